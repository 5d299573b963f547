// SPDX-License-Identifier: Apache-2.0
/* Moves each node's samples to its place in another tree, see reshape.h. */
#include "profile/reshape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOT PROFILE_ROOT

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

/* LEVELS of what has none. */
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

/* While a profile is reshaped: beside each source node's samples, where its callees go. */
struct reshaping {
	struct reshaped *to;
	const struct profile *from;
	struct reshape_options options;
	uint32_t *below;
	bool *is_java;	   /* it is a Java method, or called by one */
	const char **task; /* what it or a caller says that its thread does, or NULL */
};

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
	struct profile_name name;
	const int rc = profile_keep_name(&reshaping->to->profile, &frame, &name);

	return rc < 0 ? rc : profile_descend(&reshaping->to->profile, &name, id);
}

static bool begins_with(const char *name, const char *start)
{
	return strncmp(name, start, strlen(start)) == 0;
}

/* What a thread that never runs Java does, by one of its frames; NULL: the frame does not say. */
static const char *task_of(const char *name)
{
	static const struct {
		const char *start, *task;
	} tasks[] = {
		{"CompileBroker::", "[JIT compiler]"},
		{"ConcurrentGCThread::", "[GC]"},
		{"WorkerThread::", "[GC]"},
		{"GangWorker::", "[GC]"},
		{"AbstractGangWorker::", "[GC]"},
		{"GCTaskThread::", "[GC]"},
		{"VM_GC_", "[GC]"},
		{"VM_G1", "[GC]"},
		{"VM_GenCollect", "[GC]"},
		{"VM_Parallel", "[GC]"},
		{"VM_CollectFor", "[GC]"},
		{"VM_Shenandoah", "[GC]"},
		{"VM_Z", "[GC]"},
		{"VM_X", "[GC]"},
	};

	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		if (begins_with(name, tasks[i].start))
			return tasks[i].task;
	}
	return NULL;
}

/* Of samples without a Java method. */
static int enter_task(struct reshaping *reshaping, const char *task, uint32_t *id)
{
	const struct profile_node node = {.name = task ? task : "[no Java method]",
					  .kind = FRAME_LABEL};

	return enter(reshaping, &node, id);
}

/* Where the samples that end in node i go, and below which node what it calls. */
static int place_java_only(struct reshaping *reshaping, uint32_t i)
{
	const struct profile_node *node = &reshaping->from->nodes[i];
	const uint32_t parent = node->parent;
	const bool is_java = frame_kind_is_java((enum frame_kind)node->kind);
	uint32_t *of = &reshaping->to->of[i];
	int rc = 0;

	reshaping->is_java[i] = is_java || reshaping->is_java[parent];
	reshaping->task[i] =
		reshaping->task[parent] ? reshaping->task[parent] : task_of(node->name);
	*of = reshaping->below[parent];
	if (is_java || node->kind == FRAME_LABEL) {
		rc = enter(reshaping, node, of);
		reshaping->below[i] = *of;
		return rc;
	}
	reshaping->below[i] = *of;
	if (!reshaping->is_java[i] && node->self > 0)
		rc = enter_task(reshaping, reshaping->task[i], of);
	return rc;
}

static int place(struct reshaping *reshaping, uint32_t i)
{
	const struct profile_node *node = &reshaping->from->nodes[i];
	int rc;

	if (reshaping->options.java_only)
		return place_java_only(reshaping, i);
	reshaping->below[i] = reshaping->below[node->parent];
	rc = enter(reshaping, node, &reshaping->below[i]);
	reshaping->to->of[i] = reshaping->below[i];
	return rc;
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

/* What became this node is of several kinds: that of most samples. */
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

static int set_kinds(struct reshaping *reshaping)
{
	const struct profile *from = reshaping->from;
	struct reshaped *to = reshaping->to;
	uint8_t *first = calloc(to->profile.count, sizeof(*first));

	to->levels = calloc(to->profile.count, sizeof(*to->levels));
	for (uint32_t i = 1; first && to->levels && i < from->count; i++) {
		const enum frame_kind kind = (enum frame_kind)from->nodes[i].kind;

		if (level_of(kind) == LEVELS)
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

/* There are some more nodes than before if no sample has a Java method. */
static uint32_t max_nodes_of(const struct profile *from)
{
	const uint64_t sum = (uint64_t)from->count / 15 * 16 * 2 + 64;

	return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

int reshape_init(struct reshaped *reshaped, const struct profile *from,
		 const struct reshape_options *options)
{
	struct reshaping reshaping = {.to = reshaped, .from = from, .options = *options};
	int rc;

	*reshaped = (struct reshaped){0};
	rc = profile_init(&reshaped->profile, max_nodes_of(from));
	reshaped->of = calloc(from->count, sizeof(*reshaped->of));
	reshaped->n_of = from->count;
	reshaping.below = calloc(from->count, sizeof(*reshaping.below));
	reshaping.is_java = calloc(from->count, sizeof(*reshaping.is_java));
	reshaping.task = calloc(from->count, sizeof(*reshaping.task));
	if (!rc && (!reshaped->of || !reshaping.below || !reshaping.is_java || !reshaping.task))
		rc = -ENOMEM;
	if (!rc)
		rc = place_all(&reshaping);
	if (!rc)
		rc = set_kinds(&reshaping);
	free(reshaping.below);
	free(reshaping.is_java);
	free(reshaping.task);
	if (rc < 0)
		reshape_fini(reshaped);
	else
		reshaped->profile.quality = from->quality;
	return rc;
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
