// SPDX-License-Identifier: Apache-2.0
/*
 * The call tree, see profile.h. Nodes live in one array and refer to each other by number. One hash
 * index over (parent, name, kind) finds a child; a table for each node would be a waste, because
 * most nodes have one child. The index hashes and compares texts, so a look-up keeps nothing of a
 * name that is not there: past the node cap, endless new names cost no memory.
 *
 * Nodes of profile_append are not in the index. The first look-up behind them enters them.
 *
 * A stack is added in two steps: its path is found or made, then its weight is added along the
 * path. If memory runs out in the first step, nodes of weight 0 stay, which count nothing.
 */
#include "profile/profile.h"

#include "base/array.h"
#include "base/hash.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROOT	       PROFILE_ROOT
#define NONE	       0u /* no node has the root as its child */
#define FIRST_NODES    1024u
#define FIRST_INDEX    4096u
#define MIN_MAX_NODES  2u /* the root and its [overflow] node */
#define OVERFLOW_SHARE 16 /* one of so many nodes is kept for [overflow] nodes */
#define OVERFLOW_NAME  "[overflow]"

struct child_key {
	uint32_t parent;
	enum frame_kind kind;
	const char *name;
	uint64_t hash; /* of the name */
};

static struct child_key key_of(const struct profile *profile, uint32_t parent, enum frame_kind kind,
			       const char *name)
{
	return (struct child_key){parent, kind, name,
				  quick_hash_text(profile->seed, name, strlen(name))};
}

static uint32_t hash_of(const struct profile *profile, const struct child_key *key)
{
	const uint64_t place = (uint64_t)key->parent << 4 | (uint64_t)key->kind;

	return (uint32_t)quick_hash_mix(profile->seed, key->hash, place);
}

static bool is_child(const struct profile_node *node, const struct child_key *key)
{
	return node->parent == key->parent && node->kind == key->kind &&
	       (node->name == key->name || strcmp(node->name, key->name) == 0);
}

/* The slot of the key's node, or the free slot where the node belongs. */
static struct profile_slot *probe(const struct profile *profile, const struct child_key *key,
				  uint32_t hash)
{
	const uint32_t mask = profile->index_size - 1;
	uint32_t i = hash & mask;

	for (;; i = (i + 1) & mask) {
		struct profile_slot *const slot = &profile->index[i];

		if (slot->node == NONE ||
		    (slot->hash == hash && is_child(&profile->nodes[slot->node], key)))
			return slot;
	}
}

static uint32_t find(const struct profile *profile, const struct child_key *key)
{
	return probe(profile, key, hash_of(profile, key))->node;
}

static int grow_index(struct profile *profile)
{
	const uint32_t size = profile->index_size * 2;
	struct profile_slot *const index = calloc(size, sizeof(*index));

	if (!index)
		return -ENOMEM;
	for (uint32_t old = 0; old < profile->index_size; old++) {
		uint32_t i = profile->index[old].hash & (size - 1);

		if (profile->index[old].node == NONE)
			continue;
		while (index[i].node != NONE)
			i = (i + 1) & (size - 1);
		index[i] = profile->index[old];
	}
	free(profile->index);
	profile->index = index;
	profile->index_size = size;
	return 0;
}

/* Enters the nodes that profile_append has left out of the index. */
static int complete_index(struct profile *profile)
{
	for (; profile->n_indexed < profile->count; profile->n_indexed++) {
		const struct profile_node *const node = &profile->nodes[profile->n_indexed];
		const struct child_key key =
			key_of(profile, node->parent, (enum frame_kind)node->kind, node->name);
		const uint32_t hash = hash_of(profile, &key);

		if (profile->n_indexed >= profile->index_size / 4 * 3 && grow_index(profile) < 0)
			return -ENOMEM;
		*probe(profile, &key, hash) = (struct profile_slot){hash, profile->n_indexed};
	}
	return 0;
}

static uint32_t line_of(const struct frame *frame)
{
	return frame->line <= PROFILE_MAX_LINE ? frame->line : 0;
}

/*
 * Adds a node, which is not in the index. The texts of key and frame must be owned by the profile.
 */
static int link_node(struct profile *profile, const struct child_key *key,
		     const struct frame *frame, uint32_t *ret)
{
	const uint32_t id = profile->count;
	struct profile_node *parent;

	if (ARRAY_RESERVE(profile->nodes, profile->size, id + 1) < 0)
		return -ENOMEM;
	parent = &profile->nodes[key->parent];
	profile->nodes[id] = (struct profile_node){
		.name = key->name,
		.module = frame->module,
		.file = frame->file,
		.line = line_of(frame),
		.parent = key->parent,
		.next_sibling = parent->first_child,
		.kind = (uint8_t)key->kind,
	};
	parent->first_child = id;
	profile->kinds |= 1u << key->kind;
	profile->count++;
	*ret = id;
	return 0;
}

/* Adds a node to a profile whose other nodes are all in the index. */
static int link_and_index(struct profile *profile, const struct child_key *key,
			  const struct frame *frame, uint32_t *ret)
{
	const uint32_t hash = hash_of(profile, key);
	int rc;

	if (profile->count >= profile->index_size / 4 * 3 && grow_index(profile) < 0)
		return -ENOMEM;
	rc = link_node(profile, key, frame, ret);
	if (rc < 0)
		return rc;
	*probe(profile, key, hash) = (struct profile_slot){hash, *ret};
	profile->n_indexed = profile->count;
	return 0;
}

/*
 * Keeps a module's name and, behind its NUL, its build ID as one text. So the build ID takes no
 * room in a node, and profile_build_id finds it by the module. The text's length is limited,
 * because files may contain anything.
 */
static const char *keep_module(struct profile *profile, const char *module, const char *build_id)
{
	const size_t len = strnlen(module, PROFILE_MAX_MODULE);
	const size_t build_len = build_id ? strnlen(build_id, PROFILE_MAX_BUILD_ID + 1) : 0;
	char both[PROFILE_MAX_MODULE + 1 + PROFILE_MAX_BUILD_ID];

	memcpy(both, module, len);
	both[len] = '\0';
	if (build_len == 0 || build_len > PROFILE_MAX_BUILD_ID)
		return intern_add(&profile->names, both, len + 1);
	memcpy(both + len + 1, build_id, build_len);
	return intern_add(&profile->names, both, len + 1 + build_len);
}

const char *profile_build_id(const char *module)
{
	const char *const build_id = module ? module + strlen(module) + 1 : "";

	return *build_id ? build_id : NULL;
}

/* Forgets the build ID of a node that has samples of several builds. */
static void forget_build(struct profile *profile, struct profile_node *node)
{
	node->module = keep_module(profile, node->module, NULL);
}

static bool is_other_build(const struct profile_node *node, const struct frame *frame)
{
	const char *const build_id = profile_build_id(node->module);

	return build_id && (!frame->build_id || strcmp(build_id, frame->build_id) != 0);
}

/* Copies frame, with texts that the profile owns. Each text is kept once for all nodes. */
static int keep_texts(struct profile *profile, const struct frame *frame, struct frame *ret)
{
	*ret = *frame;
	ret->name = intern_add_str(&profile->names, frame->name);
	if (frame->module) {
		ret->module = keep_module(profile, frame->module, frame->build_id);
		profile->has_modules = true;
	}
	if (frame->file)
		ret->file = intern_add_str(&profile->names, frame->file);
	return ret->name && !ret->module == !frame->module && !ret->file == !frame->file ? 0
											 : -ENOMEM;
}

static int add_node(struct profile *profile, const struct child_key *key, const struct frame *frame,
		    uint32_t *ret)
{
	struct child_key kept_key = *key;
	struct frame kept;
	const int rc = keep_texts(profile, frame, &kept);

	if (rc < 0)
		return rc;
	kept_key.name = kept.name;
	return link_and_index(profile, &kept_key, &kept, ret);
}

int profile_init(struct profile *profile, uint32_t max_nodes)
{
	*profile = (struct profile){
		.max_nodes = max_nodes ? max_nodes : PROFILE_MAX_NODES,
		.count = 1,
		.size = FIRST_NODES,
		.index_size = FIRST_INDEX,
		.n_indexed = 1,
		.seed = quick_hash_seed(FIRST_INDEX),
	};
	if (profile->max_nodes < MIN_MAX_NODES)
		profile->max_nodes = MIN_MAX_NODES;
	profile->nodes = calloc(profile->size, sizeof(*profile->nodes));
	profile->index = calloc(profile->index_size, sizeof(*profile->index));
	if (!profile->nodes || !profile->index)
		goto fail;
	profile->nodes[ROOT].name = intern_add_str(&profile->names, "all");
	profile->nodes[ROOT].kind = FRAME_LABEL;
	if (!profile->nodes[ROOT].name)
		goto fail;
	return 0;
fail:
	profile_fini(profile);
	return -ENOMEM;
}

size_t profile_bytes(const struct profile *profile)
{
	return profile->size * sizeof(*profile->nodes) +
	       profile->index_size * sizeof(*profile->index) + intern_bytes(&profile->names);
}

void profile_fini(struct profile *profile)
{
	free(profile->nodes);
	free(profile->index);
	intern_fini(&profile->names);
	*profile = (struct profile){0};
}

/*
 * Finds or makes the [overflow] child of id, or of the nearest ancestor if there is no room. The
 * last node is kept for the root's [overflow] child, so that one always exists.
 */
static int overflow_below(struct profile *profile, uint32_t id, uint32_t *ret)
{
	if (complete_index(profile) < 0)
		return -ENOMEM;
	for (;; id = profile->nodes[id].parent) {
		const struct child_key key = key_of(profile, id, FRAME_LABEL, OVERFLOW_NAME);
		const uint32_t found = find(profile, &key);
		const uint32_t room = profile->max_nodes - profile->count;

		if (found != NONE) {
			*ret = found;
			return 0;
		}
		if (room > 1 || (id == ROOT && room == 1))
			return add_node(profile, &key, &(const struct frame){.name = OVERFLOW_NAME},
					ret);
		assert(id != ROOT);
	}
}

uint32_t profile_most_of_stacks(const struct profile *profile)
{
	return profile->max_nodes - profile->max_nodes / OVERFLOW_SHARE - 1;
}

static bool is_full(const struct profile *profile)
{
	return profile->count >= profile_most_of_stacks(profile);
}

/* The root's child above the node, or the root: such nodes are few. */
static uint32_t top_of(const struct profile *profile, uint32_t id)
{
	while (id != ROOT && profile->nodes[id].parent != ROOT)
		id = profile->nodes[id].parent;
	return id;
}

/* Moves *id to the [overflow] node below it. Returns 1. */
static int cut_below(struct profile *profile, uint32_t *id)
{
	const int rc = overflow_below(profile, *id, id);

	return rc < 0 ? rc : 1;
}

/*
 * Moves *id to its child for frame. The child is made if there is room; otherwise *ret_cut is set,
 * and *id moves to an [overflow] node.
 */
static int descend(struct profile *profile, const struct frame *frame, uint32_t *id, bool *ret_cut)
{
	const struct child_key key = key_of(profile, *id, frame->kind, frame->name);
	uint32_t child;

	if (complete_index(profile) < 0)
		return -ENOMEM;
	child = find(profile, &key);
	if (child != NONE) {
		if (profile->nodes[child].line != line_of(frame))
			profile->nodes[child].line = 0;
		if (is_other_build(&profile->nodes[child], frame))
			forget_build(profile, &profile->nodes[child]);
		*id = child;
		return 0;
	}
	if (profile->is_closed || is_full(profile)) {
		*ret_cut = true;
		return overflow_below(profile, profile->is_closed ? top_of(profile, *id) : *id, id);
	}
	return add_node(profile, &key, frame, id);
}

static bool has_unknown(const struct frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (frames[i].kind == FRAME_UNKNOWN)
			return true;
	return false;
}

int profile_add(struct profile *profile, const struct frame *frames, size_t n, uint64_t weight)
{
	uint32_t leaf;

	if (weight == 0)
		return 0;
	return profile_add_leaf(profile, frames, n, weight, &leaf);
}

int profile_add_leaf(struct profile *profile, const struct frame *frames, size_t n, uint64_t weight,
		     uint32_t *ret)
{
	uint32_t id = ROOT;
	bool cut = false;

	if (weight > UINT64_MAX - profile->quality.samples)
		return -EOVERFLOW;
	for (size_t i = n; i > 0 && !cut; i--) {
		const int rc = descend(profile, &frames[i - 1], &id, &cut);

		if (rc < 0)
			return rc;
	}
	*ret = id;
	profile->nodes[id].self += weight;
	for (;; id = profile->nodes[id].parent) {
		profile->nodes[id].total += weight;
		if (id == ROOT)
			break;
	}
	profile->quality.samples += weight;
	if (cut)
		profile->quality.overflow_samples += weight;
	if (has_unknown(frames, n))
		profile->quality.unnamed_samples += weight;
	return 0;
}

int profile_keep_name(struct profile *profile, const struct frame *frame, struct profile_name *ret)
{
	struct frame kept;

	if (keep_texts(profile, frame, &kept) < 0)
		return -ENOMEM;
	*ret = (struct profile_name){
		.text = kept.name,
		.hash = quick_hash_text(profile->seed, kept.name, strlen(kept.name)),
		.module = kept.module,
		.file = kept.file,
		.line = line_of(frame),
		.kind = frame->kind,
	};
	return 0;
}

void profile_meet(struct profile *profile, const struct profile_name *name, uint32_t id)
{
	struct profile_node *const node = &profile->nodes[id];

	if (node->line != name->line)
		node->line = 0;
	/* Equal modules with equal builds are one text. */
	if (node->module != name->module && profile_build_id(node->module))
		forget_build(profile, node);
}

int profile_descend(struct profile *profile, const struct profile_name *name, uint32_t *id)
{
	const struct child_key key = {*id, name->kind, name->text, name->hash};
	const struct frame kept = {.module = name->module, .file = name->file, .line = name->line};
	uint32_t child;

	if (complete_index(profile) < 0)
		return -ENOMEM;
	child = find(profile, &key);
	if (child != NONE) {
		profile_meet(profile, name, child);
		*id = child;
		return 0;
	}
	if (!is_full(profile))
		return link_and_index(profile, &key, &kept, id);
	return cut_below(profile, id);
}

int profile_append(struct profile *profile, const struct profile_name *name, uint32_t *id)
{
	const struct child_key key = {*id, name->kind, name->text, name->hash};
	const struct frame kept = {.module = name->module, .file = name->file, .line = name->line};

	return is_full(profile) ? cut_below(profile, id) : link_node(profile, &key, &kept, id);
}

int profile_count(struct profile *profile, uint32_t id, uint64_t weight)
{
	if (weight > UINT64_MAX - profile->quality.samples)
		return -EOVERFLOW;
	profile->nodes[id].self += weight;
	profile->quality.samples += weight;
	return 0;
}

/*
 * A child's number is greater than its parent's. Walking down from the last node, each node is
 * complete when it is added to its parent.
 */
void profile_sum(struct profile *profile)
{
	struct profile_node *const nodes = profile->nodes;

	for (uint32_t id = 0; id < profile->count; id++)
		nodes[id].total = nodes[id].self;
	for (uint32_t id = profile->count - 1; id > ROOT; id--)
		nodes[nodes[id].parent].total += nodes[id].total;
}

void profile_add_quality(struct profile_quality *to, const struct profile_quality *from)
{
	to->unnamed_samples += from->unnamed_samples;
	to->unnamed_java_samples += from->unnamed_java_samples;
	to->unrooted_samples += from->unrooted_samples;
	to->heapless_samples += from->heapless_samples;
	to->lost_samples += from->lost_samples;
	to->stackless_samples += from->stackless_samples;
	to->overflow_samples += from->overflow_samples;
	for (size_t i = 0; i < PROFILE_REASONS; i++)
		to->truncated_samples[i] += from->truncated_samples[i];
}

struct frame profile_frame_of(const struct profile_node *node)
{
	return (struct frame){
		.name = node->name,
		.module = node->module,
		.file = node->file,
		.line = node->line,
		.kind = (enum frame_kind)node->kind,
		.build_id = profile_build_id(node->module),
	};
}

static int enter_node(struct profile *profile, const struct profile_node *node, uint32_t *id)
{
	const struct frame frame = profile_frame_of(node);
	bool cut = false;
	const int rc = descend(profile, &frame, id, &cut);

	return rc < 0 ? rc : cut;
}

int profile_add_reversed(struct profile *profile, const struct profile *from)
{
	int rc = 0;

	for (uint32_t i = 0; i < from->count && rc >= 0; i++) {
		uint32_t id = ROOT;

		if (from->nodes[i].self == 0)
			continue;
		rc = 0;
		for (uint32_t at = i; at != ROOT && rc == 0; at = from->nodes[at].parent)
			rc = enter_node(profile, &from->nodes[at], &id);
		if (rc == 1)
			profile->quality.overflow_samples += from->nodes[i].self;
		if (rc >= 0)
			rc = profile_count(profile, id, from->nodes[i].self);
	}
	if (rc >= 0)
		profile_add_quality(&profile->quality, &from->quality);
	profile_sum(profile);
	return rc < 0 ? rc : 0;
}
