// SPDX-License-Identifier: Apache-2.0
/* Functions that all sinks need for a sample, see named_sample.h. */
#include "sinks/named_sample.h"

#include <assert.h>
#include <stdio.h>

#define PIECE_NS   (4 * TIMELINE_BUCKET_NS) /* of a span of time, in the timeline */
#define MAX_PIECES 64u

static_assert(STACK_ENDS <= PROFILE_REASONS, "samples are counted by how their stack ends");

const struct sample_kind sample_kind_cpu = {
	.profile = &profile_kind_cpu,
	.n_values = 1,
	.values = {{"samples", "count"}},
};

const struct sample_kind sample_kind_wall = {
	.profile = &profile_kind_wall,
	.n_values = 1,
	.values = {{"wall", "microseconds"}},
};

const struct sample_kind sample_kind_offcpu = {
	.profile = &profile_kind_offcpu,
	.n_values = 1,
	.values = {{"offcpu", "microseconds"}},
};

const struct sample_kind sample_kind_alloc = {
	.profile = &profile_kind_alloc,
	.n_values = 2,
	.values = {{"alloc", "bytes"}, {"objects", "count"}},
};

const struct sample_kind sample_kind_objects = {
	.profile = &profile_kind_objects,
	.n_values = 2,
	.values = {{"objects", "count"}, {"alloc", "bytes"}},
};

const struct sample_kind sample_kind_live = {
	.profile = &profile_kind_live,
	.n_values = 2,
	.values = {{"live", "bytes"}, {"live_objects", "count"}},
};

const struct sample_kind sample_kind_live_objects = {
	.profile = &profile_kind_live_objects,
	.n_values = 2,
	.values = {{"live_objects", "count"}, {"live", "bytes"}},
};

const struct sample_kind sample_kind_lock = {
	.profile = &profile_kind_lock,
	.n_values = 2,
	.values = {{"lock", "microseconds"}, {"contentions", "count"}},
};

const struct sample_kind sample_kind_contentions = {
	.profile = &profile_kind_contentions,
	.n_values = 2,
	.values = {{"contentions", "count"}, {"lock", "microseconds"}},
};

const struct sample_kind sample_kind_exceptions = {
	.profile = &profile_kind_exceptions,
	.n_values = 1,
	.values = {{"exceptions", "count"}},
};

const struct sample_kind *const sample_kinds[SAMPLE_KINDS] = {
	&sample_kind_cpu,     &sample_kind_wall, &sample_kind_offcpu,	   &sample_kind_alloc,
	&sample_kind_objects, &sample_kind_lock, &sample_kind_contentions, &sample_kind_exceptions,
};

static_assert(SAMPLE_KINDS <= PROFILE_MAX_KINDS, "a file has room for all kinds of a recording");

const struct sample_kind *sample_kind_if_live(const struct sample_kind *kind)
{
	return kind == &sample_kind_alloc     ? &sample_kind_live
	       : kind == &sample_kind_objects ? &sample_kind_live_objects
					      : kind;
}

void named_sample_judge(const struct named_sample *sample, struct profile_quality *quality)
{
	const struct symbolizer_verdict *const verdict = sample->verdict;
	const struct stack *const stack = sample->stack;
	const uint64_t weight = sample->values[0];

	quality->unnamed_samples += weight * verdict->is_interpreted_unnamed;
	quality->unnamed_java_samples += weight * !verdict->is_java_named;
	quality->unrooted_samples += weight * !verdict->is_rooted;
	quality->heapless_samples += weight * stack->has_gap;
	if (stack->depth > 0 && stack->end < STACK_ENDS)
		quality->truncated_samples[stack->end] += weight * !verdict->is_rooted;
}

uint32_t named_sample_thread(const struct named_sample *sample, struct timeline *timeline)
{
	struct process *const process = sample->process;
	char title[512] = "", runtime[256] = "";
	struct timeline_process row = {.pid = sample->pid, .title = title, .runtime = runtime};
	const struct thread_at at = {
		.tid = sample->tid, .time_ns = sample->time_ns, .comm = sample->comm};
	struct timeline_thread thread = {.tid = sample->tid};
	const char *name, *version;

	if (process) {
		name = process_attr(process, "jvm.name");
		version = process_attr(process, "jvm.version");
		process_title(process, title, sizeof(title));
		row.container = process->container_id;
		row.pod = process_pod(process);
		row.container_name = process->workload.container;
		row.name_space = process->workload.name_space;
		row.image = workload_image(&process->workload);
		row.service = label_set_find(&process->workload.labels, WORKLOAD_SERVICE);
		thread.name = process_thread_name_at(process, &at, &thread.cut_name);
		snprintf(runtime, sizeof(runtime), "%s%s%s", name ? name : "",
			 name && version ? " " : "", version ? version : "");
	} else if (sample->comm && sample->comm[0]) {
		snprintf(title, sizeof(title), "[gone: %s]", sample->comm);
		thread.name = sample->comm;
	}
	thread.process = timeline_process(timeline, &row);
	return timeline_thread(timeline, &thread);
}

/*
 * Puts the weight where its time was, in pieces. Each has what is left divided by the pieces that
 * are left, so that the sum is the weight.
 */
static void add_span(struct timeline *timeline, uint64_t end_ns, uint64_t span_ns,
		     const struct timeline_entry *entry, uint64_t left)
{
	uint64_t begin_ns = end_ns > span_ns ? end_ns - span_ns : 0;
	uint64_t pieces = (end_ns - begin_ns) / PIECE_NS + 1;
	const uint64_t step_ns = (end_ns - begin_ns) / pieces;

	if (pieces > MAX_PIECES)
		pieces = 1;
	for (; pieces > 0; pieces--, begin_ns += step_ns) {
		const uint64_t weight = left / pieces;

		timeline_add_weight(timeline, pieces == 1 ? end_ns : begin_ns + step_ns, entry,
				    weight);
		left -= weight;
	}
}

int named_sample_add(const struct named_sample *sample, uint64_t start_ns, struct profile *profile,
		     struct timeline *timeline)
{
	const uint64_t at_ns = sample->time_ns > start_ns ? sample->time_ns - start_ns : 0;
	struct timeline_entry entry = {0};
	int err = profile_add_leaf(profile, sample->frames, sample->n_frames, sample->values[0],
				   &entry.node);

	if (err < 0)
		return err;
	named_sample_judge(sample, &profile->quality);
	entry.thread = named_sample_thread(sample, timeline);
	add_span(timeline, at_ns, sample->span_ns, &entry, sample->values[0]);
	return 0;
}
