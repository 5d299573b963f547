// SPDX-License-Identifier: Apache-2.0
/*
 * The call tree, see profile.h. Nodes live in one array and name each other by number; siblings
 * are found through one hash index over (parent, name, kind) instead of a table a node, because
 * most nodes have one child. The index hashes and compares texts, so that looking for a frame that
 * is not there keeps nothing of it: past the node cap, endless new names cost no memory.
 *
 * A stack is added in two steps: first its path is found or made, then its weight is added along
 * that path. Memory that runs out in the first step leaves nodes of weight 0, which count nothing.
 */
#include "profile/profile.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROOT	       0u
#define NONE	       0u /* the root is nobody's child */
#define FIRST_NODES    1024u
#define FIRST_INDEX    4096u
#define MIN_MAX_NODES  2u /* the root and its [overflow] */
#define OVERFLOW_SHARE 16 /* one node in so many is kept for [overflow] nodes */
#define OVERFLOW_NAME  "[overflow]"

struct child_key {
	uint32_t parent;
	enum frame_kind kind;
	const char *name;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

/* Eight bytes a step: with names of some 60 bytes this is most of the cost of adding a frame. */
static uint64_t hash_text(const char *text)
{
	size_t len = strlen(text);
	uint64_t hash = len;
	uint64_t word;

	for (; len >= sizeof(word); text += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = mix(hash, word);
	}
	word = 0;
	memcpy(&word, text, len);
	return mix(hash, word);
}

static uint32_t hash_of(const struct child_key *key)
{
	const uint64_t place = (uint64_t)key->parent << 4 | (uint64_t)key->kind;

	return (uint32_t)mix(hash_text(key->name), place);
}

static bool is_child(const struct profile_node *node, const struct child_key *key)
{
	return node->parent == key->parent && node->kind == key->kind &&
	       strcmp(node->name, key->name) == 0;
}

/* The entry of key's node, or the free one where it belongs. */
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
	return probe(profile, key, hash_of(key))->node;
}

static int grow_nodes(struct profile *profile)
{
	const uint32_t size = profile->size <= UINT32_MAX / 2 ? profile->size * 2 : UINT32_MAX;
	struct profile_node *nodes = realloc(profile->nodes, size * sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	profile->nodes = nodes;
	profile->size = size;
	return 0;
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

/* The names are interned, so that each is kept once however many nodes bear it. */
static int add_node(struct profile *profile, const struct child_key *key, const char *module,
		    uint32_t *ret)
{
	const char *const name = intern_add_str(&profile->names, key->name);
	const char *const kept = module ? intern_add_str(&profile->names, module) : NULL;
	const uint32_t id = profile->count;
	const uint32_t hash = hash_of(key);
	struct profile_node *parent;

	if (!name || (module && !kept))
		return -ENOMEM;
	if (id == profile->size && grow_nodes(profile) < 0)
		return -ENOMEM;
	if (id >= profile->index_size / 4 * 3 && grow_index(profile) < 0)
		return -ENOMEM;
	parent = &profile->nodes[key->parent];
	profile->nodes[id] = (struct profile_node){
		.name = name,
		.module = kept,
		.parent = key->parent,
		.next_sibling = parent->first_child,
		.kind = (uint8_t)key->kind,
	};
	*probe(profile, key, hash) = (struct profile_slot){hash, id};
	parent->first_child = id;
	profile->count++;
	*ret = id;
	return 0;
}

int profile_init(struct profile *profile, uint32_t max_nodes)
{
	*profile = (struct profile){
		.max_nodes = max_nodes ? max_nodes : PROFILE_MAX_NODES,
		.count = 1,
		.size = FIRST_NODES,
		.index_size = FIRST_INDEX,
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

void profile_fini(struct profile *profile)
{
	free(profile->nodes);
	free(profile->index);
	intern_fini(&profile->names);
	*profile = (struct profile){0};
}

/*
 * The [overflow] child of id. Where even its room is gone, the nearest ancestor's; the last node
 * of all is kept for the root's, so that there always is one.
 */
static int overflow_below(struct profile *profile, uint32_t id, uint32_t *ret)
{
	for (;; id = profile->nodes[id].parent) {
		const struct child_key key = {id, FRAME_LABEL, OVERFLOW_NAME};
		const uint32_t found = find(profile, &key);
		const uint32_t room = profile->max_nodes - profile->count;

		if (found != NONE) {
			*ret = found;
			return 0;
		}
		if (room > 1 || (id == ROOT && room == 1))
			return add_node(profile, &key, NULL, ret);
		assert(id != ROOT);
	}
}

/* The child of *id that frame names, made if there is room; *ret_cut tells that there was none. */
static int descend(struct profile *profile, const struct frame *frame, uint32_t *id, bool *ret_cut)
{
	const uint32_t reserve = profile->max_nodes / OVERFLOW_SHARE + 1;
	const struct child_key key = {*id, frame->kind, frame->name};
	const uint32_t child = find(profile, &key);

	if (child != NONE) {
		*id = child;
		return 0;
	}
	if (profile->max_nodes - profile->count <= reserve) {
		*ret_cut = true;
		return overflow_below(profile, *id, id);
	}
	return add_node(profile, &key, frame->module, id);
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
