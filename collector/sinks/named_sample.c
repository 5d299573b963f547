// SPDX-License-Identifier: Apache-2.0
/* Functions that all sinks need for a sample, see named_sample.h. */
#include "sinks/named_sample.h"

#include <assert.h>
#include <stdio.h>

static_assert(STACK_ENDS <= PROFILE_REASONS, "samples are counted by how their stack ends");

const struct sample_kind sample_kind_cpu = {
	.profile = &profile_kind_cpu,
	.n_values = 1,
	.values = {{"samples", "count"}},
};

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
		thread.name = process_thread_name(process, sample->tid);
		snprintf(runtime, sizeof(runtime), "%s%s%s", name ? name : "",
			 name && version ? " " : "", version ? version : "");
	}
	thread.process = timeline_process(timeline, &row);
	return timeline_thread(timeline, &thread);
}

int named_sample_add(const struct named_sample *sample, uint64_t start_ns, struct profile *profile,
		     struct timeline *timeline)
{
	const uint64_t at_ns = sample->time_ns > start_ns ? sample->time_ns - start_ns : 0;
	struct timeline_entry entry = {.weight = (uint32_t)sample->values[0]};
	int err = profile_add_leaf(profile, sample->frames, sample->n_frames, sample->values[0],
				   &entry.node);

	if (err < 0)
		return err;
	named_sample_judge(sample, &profile->quality);
	entry.thread = named_sample_thread(sample, timeline);
	timeline_add(timeline, at_ns, &entry);
	return 0;
}
