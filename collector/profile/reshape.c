// SPDX-License-Identifier: Apache-2.0
/* Moves each node's samples to its place in the reshaped tree, see reshape.h. */
#include "profile/reshape.h"

#include "base/cleanup.h"
#include "base/map64.h"
#include "profile/name_lists.h"
#include "profile/pools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOT	       PROFILE_ROOT
#define RUN_NAME       "[frameworks]"
#define RUN_NAME_BYTES 256
#define KEPT_BITS      12
#define FEW_CHILDREN   24u /* names of so many are compared one by one */

static const char *const level_names[LEVELS] = {
	[LEVEL_INTERPRETED] = "interpreted",
	[LEVEL_C1] = "C1",
	[LEVEL_C2] = "C2",
	[LEVEL_INLINED] = "inlined",
};

const char *level_name(enum level level)
{
	return level_names[level];
}

unsigned level_count(const struct level_counts *counts)
{
	unsigned n = 0;

	for (int level = 0; level < LEVELS; level++)
		n += counts->totals[level] > 0;
	return n;
}

/* LEVELS: the kind has no level. */
static enum level level_of(enum frame_kind kind)
{
	switch (kind) {
	case FRAME_INTERPRETED:
		return LEVEL_INTERPRETED;
	case FRAME_C1:
		return LEVEL_C1;
	case FRAME_JIT:
	case FRAME_NATIVE_WRAPPER:
		return LEVEL_C2;
	case FRAME_INLINED:
		return LEVEL_INLINED;
	default:
		return LEVELS;
	}
}

/* A name of from as the result has it. */
struct kept_name {
	struct frame frame; /* name NULL: none */
	struct profile_name name;
};

/* What is needed while a profile is reshaped. below[i]: where the callees of from's node i go. */
struct reshaping {
	struct reshaped *to;
	const struct profile *from;
	struct reshape_options options;
	struct kept_name *kept; /* 1 << KEPT_BITS, those that were met last, by address */
	uint32_t *below;
	/* With java_only: whether the node is a Java method or called by one */
	bool *is_java;
	const char **task; /* with java_only: the thread's, as the node or a caller says; or NULL */
	/* With hides_starts: between a pool's label and the first Java method */
	bool *in_start;
	/* With folds_frameworks: length of the run of framework frames that ends in the node */
	uint32_t *run;
	struct run *runs; /* with folds_frameworks: by node of to; only some nodes are runs */
};

struct run {
	uint32_t seen; /* one bit for each framework; 0: the node is no run */
	uint32_t longest;
};

/* Texts of one profile are equal only if their addresses are. */
static bool is_same(const struct frame *a, const struct frame *b)
{
	return a->name == b->name && a->module == b->module && a->file == b->file &&
	       a->line == b->line && a->kind == b->kind;
}

/* The name in the result, borrowed until the next call; NULL: there is no memory. */
static const struct profile_name *keep_name(struct reshaping *reshaping, const struct frame *frame)
{
	const uint64_t key = (uint64_t)(uintptr_t)frame->name << 4 | (uint64_t)frame->kind;
	struct kept_name *const kept =
		&reshaping->kept[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - KEPT_BITS)];

	if (is_same(&kept->frame, frame))
		return &kept->name;
	kept->frame.name = NULL;
	if (profile_keep_name(&reshaping->to->profile, frame, &kept->name) < 0)
		return NULL;
	kept->frame = *frame;
	return &kept->name;
}

static int enter(struct reshaping *reshaping, const struct profile_node *node, uint32_t *id)
{
	const enum frame_kind kind = (enum frame_kind)node->kind;
	const bool is_level = reshaping->options.merges_levels && level_of(kind) != LEVELS;
	const struct frame frame = {
		.name = node->name,
		.module = node->module,
		.file = node->file,
		.line = node->line,
		.kind = is_level ? FRAME_JAVA : kind,
		.build_id = profile_build_id(node->module),
	};
	const struct profile_name *const name = keep_name(reshaping, &frame);

	return name ? profile_descend(&reshaping->to->profile, name, id) : -ENOMEM;
}

/*
 * The task of a thread without Java methods, told by the name of a frame. NULL: the frame tells
 * none.
 */
static const char *task_of(const char *name)
{
	const size_t task = name_list_find(task_lists, task_count, name);

	return task == SIZE_MAX ? NULL : task_lists[task].name;
}

/* Moves *id to the label of a task, for samples without a Java method. */
static int enter_task(struct reshaping *reshaping, const char *task, uint32_t *id)
{
	const struct profile_node node = {.name = task ? task : "[no Java method]",
					  .kind = FRAME_LABEL};

	return enter(reshaping, &node, id);
}

/*
 * If node i belongs to a framework and to a run: moves *to to the run and returns 1. Else returns
 * 0.
 */
static int enter_run(struct reshaping *reshaping, uint32_t i, uint32_t *to)
{
	static const struct profile_node folded = {.name = RUN_NAME, .kind = FRAME_LABEL};
	const struct profile_node *node = &reshaping->from->nodes[i];
	const bool goes_on = reshaping->runs && reshaping->runs[*to].seen;
	struct run *run;
	size_t of;
	int rc = 0;

	if (!reshaping->runs || !frame_kind_is_java((enum frame_kind)node->kind))
		return 0;
	of = name_list_find(framework_lists, framework_count, node->name);
	if (of == SIZE_MAX || (!goes_on && of == framework_count - 1))
		return 0;
	if (!goes_on)
		rc = enter(reshaping, &folded, to);
	if (rc < 0)
		return rc;
	run = &reshaping->runs[*to];
	reshaping->run[i] = goes_on ? reshaping->run[node->parent] + 1 : 1;
	run->seen |= 1u << of;
	run->longest = run->longest > reshaping->run[i] ? run->longest : reshaping->run[i];
	return 1;
}

/* Keeps node i, as a node or in a run. Its callees stand below. */
static int keep(struct reshaping *reshaping, uint32_t i)
{
	const struct profile_node *node = &reshaping->from->nodes[i];
	int rc;

	reshaping->below[i] = reshaping->below[node->parent];
	rc = enter_run(reshaping, i, &reshaping->below[i]);
	if (rc == 0)
		rc = enter(reshaping, node, &reshaping->below[i]);
	reshaping->to->of[i] = reshaping->below[i];
	return rc;
}

/* Leaves node i out. Its samples and its callees go to its caller. */
static void leave_out(struct reshaping *reshaping, uint32_t i)
{
	reshaping->below[i] = reshaping->below[reshaping->from->nodes[i].parent];
	reshaping->to->of[i] = reshaping->below[i];
}

/*
 * Keeps why a thread waits, or the class of an object. Without a Java method the node stands above
 * the thread's task.
 */
static int keep_leaf(struct reshaping *reshaping, uint32_t i)
{
	const struct profile_node *node = &reshaping->from->nodes[i];
	uint32_t to = reshaping->below[node->parent];
	int rc = 0;

	if (!reshaping->is_java[i] && reshaping->from->nodes[node->parent].kind != FRAME_LABEL)
		rc = enter_task(reshaping, reshaping->task[i], &to);
	if (rc >= 0)
		rc = enter(reshaping, node, &to);
	reshaping->below[i] = to;
	reshaping->to->of[i] = to;
	return rc;
}

static int place_java_only(struct reshaping *reshaping, uint32_t i)
{
	const struct profile_node *node = &reshaping->from->nodes[i];
	const uint32_t parent = node->parent;
	const bool is_java = frame_kind_is_java((enum frame_kind)node->kind);

	reshaping->is_java[i] = is_java || reshaping->is_java[parent];
	reshaping->task[i] =
		reshaping->task[parent] ? reshaping->task[parent] : task_of(node->name);
	if (is_java || node->kind == FRAME_LABEL)
		return keep(reshaping, i);
	if (node->kind == FRAME_WAIT || node->kind == FRAME_CLASS)
		return keep_leaf(reshaping, i);
	leave_out(reshaping, i);
	if (!reshaping->is_java[i] && node->self > 0)
		return enter_task(reshaping, reshaping->task[i], &reshaping->to->of[i]);
	return 0;
}

/* Whether node i is one of a thread's first frames, below the label of its pool. */
static bool is_hidden(struct reshaping *reshaping, uint32_t i)
{
	const struct profile_node *node = &reshaping->from->nodes[i];
	bool hides;

	if (!reshaping->options.hides_starts)
		return false;
	hides = reshaping->in_start[node->parent];
	reshaping->in_start[i] = hides ? !pool_ends_start(node) : pool_is_label(node);
	return hides;
}

/* Decides where node i's samples go, and where its callees go. */
static int place(struct reshaping *reshaping, uint32_t i)
{
	if (is_hidden(reshaping, i)) {
		leave_out(reshaping, i);
		return 0;
	}
	return reshaping->options.java_only ? place_java_only(reshaping, i) : keep(reshaping, i);
}

static int place_all(struct reshaping *reshaping)
{
	struct profile *to = &reshaping->to->profile;

	for (uint32_t i = 0; i < reshaping->from->count; i++) {
		int rc = i == ROOT ? 0 : place(reshaping, i);

		if (rc >= 0)
			rc = profile_count(to, reshaping->to->of[i],
					   reshaping->from->nodes[i].self);
		if (rc < 0)
			return rc;
	}
	profile_sum(to);
	return 0;
}

/* The kind of most samples, for a node that several kinds were joined to. */
static enum frame_kind kind_of_most(const struct level_counts *counts, enum frame_kind first)
{
	static const enum frame_kind kinds[LEVELS] = {
		[LEVEL_INTERPRETED] = FRAME_INTERPRETED,
		[LEVEL_C1] = FRAME_C1,
		[LEVEL_C2] = FRAME_JIT,
		[LEVEL_INLINED] = FRAME_INLINED,
	};
	enum level best = level_of(first);

	for (int level = 0; level < LEVELS; level++)
		best = counts->totals[level] > counts->totals[best] ? (enum level)level : best;
	return best == level_of(first) ? first : kinds[best];
}

static bool is_run(const struct reshaping *reshaping, uint32_t id)
{
	return reshaping->runs && reshaping->runs[id].seen;
}

static int name_run(struct profile *profile, uint32_t id, const struct run *run)
{
	char text[RUN_NAME_BYTES];
	struct profile_name name;
	size_t len = 0;
	int rc;

	for (size_t of = 0; of < framework_count; of++) {
		if (run->seen >> of & 1)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
						len ? ", " : "[", framework_lists[of].name);
	}
	snprintf(text + len, sizeof(text) - len, ": %u frame%s]", run->longest,
		 run->longest == 1 ? "" : "s");
	rc = profile_keep_name(profile, &(struct frame){.name = text, .kind = FRAME_LABEL}, &name);
	if (rc >= 0)
		profile->nodes[id].name = name.text;
	return rc < 0 ? rc : 0;
}

static int name_runs(struct reshaping *reshaping)
{
	struct profile *to = &reshaping->to->profile;
	int rc = 0;

	for (uint32_t id = 0; !rc && id < to->count; id++) {
		if (is_run(reshaping, id) && !reshaping->options.is_compared)
			rc = name_run(to, id, &reshaping->runs[id]);
	}
	return rc;
}

static int set_kinds(struct reshaping *reshaping)
{
	const struct profile *from = reshaping->from;
	struct reshaped *to = reshaping->to;
	uint8_t *first = calloc(to->profile.count, sizeof(*first));

	to->levels = calloc(to->profile.count, sizeof(*to->levels));
	for (uint32_t i = 1; first && to->levels && i < from->count; i++) {
		const enum frame_kind kind = (enum frame_kind)from->nodes[i].kind;

		if (level_of(kind) == LEVELS || is_run(reshaping, to->of[i]))
			continue;
		to->levels[to->of[i]].totals[level_of(kind)] += from->nodes[i].total;
		if (!first[to->of[i]])
			first[to->of[i]] = (uint8_t)kind;
	}
	for (uint32_t i = 1; first && to->levels && i < to->profile.count; i++) {
		if (first[i] && reshaping->options.merges_levels)
			to->profile.nodes[i].kind =
				(uint8_t)kind_of_most(&to->levels[i], (enum frame_kind)first[i]);
	}
	free(first);
	return first && to->levels ? 0 : -ENOMEM;
}

/*
 * A limit for the nodes of the result. Without Java methods the result has some more nodes than
 * from.
 */
static uint32_t max_nodes_of(const struct profile *from)
{
	const uint64_t sum = (uint64_t)from->count / 15 * 16 * 2 + 64;

	return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

static int alloc_reshaping(struct reshaping *reshaping)
{
	const size_t count = reshaping->from->count;

	reshaping->kept = calloc((size_t)1 << KEPT_BITS, sizeof(*reshaping->kept));
	reshaping->to->of = calloc(count, sizeof(*reshaping->to->of));
	reshaping->to->n_of = reshaping->from->count;
	reshaping->below = calloc(count, sizeof(*reshaping->below));
	if (reshaping->options.java_only) {
		reshaping->is_java = calloc(count, sizeof(*reshaping->is_java));
		reshaping->task = calloc(count, sizeof(*reshaping->task));
	}
	if (reshaping->options.hides_starts)
		reshaping->in_start = calloc(count, sizeof(*reshaping->in_start));
	if (!reshaping->kept || !reshaping->to->of || !reshaping->below ||
	    (reshaping->options.java_only && (!reshaping->is_java || !reshaping->task)) ||
	    (reshaping->options.hides_starts && !reshaping->in_start))
		return -ENOMEM;
	if (!reshaping->options.folds_frameworks)
		return 0;
	reshaping->run = calloc(count, sizeof(*reshaping->run));
	/* Each node makes one node, and one more if the task's label is new there. */
	reshaping->runs = calloc(2 * count + 1, sizeof(*reshaping->runs));
	return reshaping->run && reshaping->runs ? 0 : -ENOMEM;
}

static void free_reshaping(struct reshaping *reshaping)
{
	free(reshaping->kept);
	free(reshaping->below);
	free(reshaping->is_java);
	free(reshaping->task);
	free(reshaping->in_start);
	free(reshaping->run);
	free(reshaping->runs);
}

int reshape_init(struct reshaped *reshaped, const struct profile *from,
		 const struct reshape_options *options)
{
	struct reshaping reshaping = {.to = reshaped, .from = from, .options = *options};
	int rc;

	*reshaped = (struct reshaped){0};
	rc = profile_init(&reshaped->profile, max_nodes_of(from));
	if (!rc)
		rc = alloc_reshaping(&reshaping);
	if (!rc)
		rc = place_all(&reshaping);
	if (!rc)
		rc = set_kinds(&reshaping);
	if (!rc)
		rc = name_runs(&reshaping);
	free_reshaping(&reshaping);
	if (rc < 0)
		reshape_fini(reshaped);
	else
		reshaped->profile.quality = from->quality;
	return rc;
}

/* Whether the node's kind is FRAME_JAVA once levels are merged. */
static bool is_mergeable(const struct profile_node *node)
{
	return level_of((enum frame_kind)node->kind) != LEVELS || node->kind == FRAME_JAVA;
}

/* Returns 1 if the node has two children that become one, if *n of its children are mergeable. */
static int few_merge(const struct profile *from, uint32_t parent, unsigned *n)
{
	const char *seen[FEW_CHILDREN];

	*n = 0;
	for (uint32_t id = from->nodes[parent].first_child; id; id = from->nodes[id].next_sibling) {
		const struct profile_node *const node = &from->nodes[id];

		if (!is_mergeable(node))
			continue;
		for (unsigned i = 0; i < *n; i++) {
			if (seen[i] == node->name)
				return 1;
		}
		seen[*n] = node->name;
		if (++*n == FEW_CHILDREN)
			return 0;
	}
	return 0;
}

/* As few_merge. last has each name's last parent + 1. */
static int many_merge(const struct profile *from, uint32_t parent, struct map64 *last)
{
	void *const here = (void *)((uintptr_t)parent + 1);

	for (uint32_t id = from->nodes[parent].first_child; id; id = from->nodes[id].next_sibling) {
		const uint64_t name = (uint64_t)(uintptr_t)from->nodes[id].name;

		if (!is_mergeable(&from->nodes[id]))
			continue;
		if (map64_find(last, name) == here)
			return 1;
		if (map64_put(last, name, here) < 0)
			return -ENOMEM;
	}
	return 0;
}

static bool has_siblings(const struct profile_node *nodes, uint32_t id)
{
	return id && nodes[id].next_sibling;
}

/* Names of one profile are equal only if their addresses are. */
static int levels_merge(const struct profile *from)
{
	_cleanup_(map64_fini) struct map64 last = {0};
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < from->count; i++) {
		unsigned n = 0;

		if (!has_siblings(from->nodes, from->nodes[i].first_child))
			continue;
		rc = few_merge(from, i, &n);
		if (rc == 0 && n == FEW_CHILDREN)
			rc = many_merge(from, i, &last);
	}
	return rc;
}

static bool has_pools(const struct profile *from)
{
	if (!from->has_modules)
		return false;
	for (uint32_t i = 1; i < from->count; i++) {
		if (pool_is_label(&from->nodes[i]))
			return true;
	}
	return false;
}

int reshape_changes(const struct profile *from, const struct reshape_options *options)
{
	if (options->java_only || options->folds_frameworks ||
	    (options->hides_starts && has_pools(from)))
		return 1;
	return options->merges_levels ? levels_merge(from) : 0;
}

void reshape_fini(struct reshaped *reshaped)
{
	profile_fini(&reshaped->profile);
	free(reshaped->of);
	free(reshaped->levels);
	*reshaped = (struct reshaped){0};
}

int reshape_timeline(const struct reshaped *reshaped, const struct timeline *timeline,
		     struct timeline *ret)
{
	*ret = *timeline;
	ret->entries = malloc((timeline->n_entries + 1) * sizeof(*ret->entries));
	if (!ret->entries)
		return -ENOMEM;
	for (size_t i = 0; i < timeline->n_entries; i++) {
		ret->entries[i] = timeline->entries[i];
		ret->entries[i].node = timeline->entries[i].node < reshaped->n_of
					       ? reshaped->of[timeline->entries[i].node]
					       : UINT32_MAX;
	}
	timeline_sort(ret);
	return 0;
}
