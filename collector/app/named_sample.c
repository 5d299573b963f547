// SPDX-License-Identifier: Apache-2.0
/* Puts samples where they are kept, see named_sample.h. */
#include "app/named_sample.h"

#include <stdio.h>

/* The thread's number in the timeline; what is known of it and its process may be news. */
static uint32_t thread_of(const struct named_sample *sample, struct timeline *timeline)
{
	struct process *const process = sample->process;
	char title[512] = "", runtime[256] = "";
	struct timeline_process row = {
		.pid = sample->record->pid, .title = title, .runtime = runtime};
	struct timeline_thread thread = {.tid = sample->record->tid};
	const char *name, *version;

	if (process) {
		name = process_attr(process, "jvm.name");
		version = process_attr(process, "jvm.version");
		process_title(process, title, sizeof(title));
		row.container = process->container_id;
		row.pod = process_pod(process);
		row.container_name = process->identity.container;
		row.name_space = process->identity.name_space;
		thread.name = process_thread_name(process, sample->record->tid);
		snprintf(runtime, sizeof(runtime), "%s%s%s", name ? name : "",
			 name && version ? " " : "", version ? version : "");
	}
	thread.process = timeline_process(timeline, &row);
	return timeline_thread(timeline, &thread);
}

static void keep_in_window(const struct named_sample *sample, struct window *window)
{
	struct timeline *timeline = window_timeline(window, sample->record->time_ns);
	struct profile_quality flaws = {0};
	const struct window_sample entry = {
		.time_ns = sample->record->time_ns,
		.frames = sample->frames,
		.n_frames = sample->n_frames,
		.thread = thread_of(sample, timeline),
		.flaws = &flaws,
	};

	recording_judge(sample->stack, sample->verdict, &flaws);
	window_add(window, &entry);
}

/* Other than the window: what all of a recording goes into, or its process's part of a period. */
struct place {
	struct profile *profile;
	struct timeline *timeline;
	struct period_graph *graph; /* or NULL */
	size_t graph_bytes;
	uint64_t start_ns;
};

/* False: it has no room, which is counted. */
static bool find_place(struct recording *recording, const struct process *process,
		       struct place *ret)
{
	struct period *const period = recording->period;

	*ret = (struct place){.profile = &recording->profile,
			      .timeline = &recording->timeline,
			      .start_ns = recording->start_ns};
	if (!period)
		return true;
	ret->graph = process ? period_graph_of(period, process) : NULL;
	if (!ret->graph)
		return false;
	ret->profile = &ret->graph->profile;
	ret->timeline = &ret->graph->timeline;
	ret->graph_bytes = period_graph_bytes(ret->graph);
	ret->start_ns = period->start_ns;
	return true;
}

static void add_time(const struct named_sample *sample, struct recording *recording,
		     const struct place *place, uint32_t leaf)
{
	const uint64_t time_ns = sample->record->time_ns;
	const uint64_t at_ns = time_ns > place->start_ns ? time_ns - place->start_ns : 0;
	const struct timeline_entry entry = {
		.thread = thread_of(sample, place->timeline),
		.node = leaf,
		.weight = 1,
	};

	timeline_add(place->timeline, at_ns, &entry);
	if (place->graph)
		period_note_sample(recording->period, place->graph, place->graph_bytes, time_ns);
}

void named_sample_keep(const struct named_sample *sample, struct recording *recording)
{
	struct place place;
	uint32_t leaf;

	if (recording->window.seconds) {
		keep_in_window(sample, &recording->window);
		return;
	}
	if (!find_place(recording, sample->process, &place))
		return;
	if (profile_add_leaf(place.profile, sample->frames, sample->n_frames, 1, &leaf) < 0) {
		recording->hold.dropped++;
		return;
	}
	recording_judge(sample->stack, sample->verdict, &place.profile->quality);
	add_time(sample, recording, &place, leaf);
}
