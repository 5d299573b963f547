// SPDX-License-Identifier: Apache-2.0
/*
 * Adds one timeline's rows and entries to another as a recording would add them, so that all limits
 * hold.
 */
#include "profile/timeline_merge.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>

#define NO_NUMBER UINT32_MAX

static uint32_t last_bucket(const struct timeline *timeline)
{
	uint32_t last = 0;

	for (size_t i = 0; i < timeline->n_entries; i++)
		last = timeline->entries[i].bucket > last ? timeline->entries[i].bucket : last;
	return last;
}

/* Moves all entries by ns. Buckets become longer if there would be too many. */
static void move_times(struct timeline *timeline, uint64_t ns)
{
	uint64_t last = last_bucket(timeline);

	while (last + ns / timeline->bucket_ns >= TIMELINE_MAX_BUCKETS) {
		timeline->bucket_ns *= 2;
		last /= 2;
		for (size_t i = 0; i < timeline->n_entries; i++)
			timeline->entries[i].bucket /= 2;
	}
	for (size_t i = 0; i < timeline->n_entries; i++)
		timeline->entries[i].bucket += (uint32_t)(ns / timeline->bucket_ns);
}

static void forget_times(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->n_entries; i++)
		timeline->entries[i].bucket = 0;
}

/* Finds a row of to for each row of from; NO_NUMBER: there is no room. */
static void merge_rows(struct timeline *to, const struct timeline *from, uint32_t *processes,
		       uint32_t *threads)
{
	for (size_t i = 0; i < from->n_processes; i++)
		processes[i] = timeline_process(to, &from->processes[i]);
	for (size_t i = 0; i < from->n_threads; i++) {
		const struct timeline_thread *const thread = &from->threads[i];
		const bool is_whole = thread->process < from->n_processes;
		const struct timeline_thread moved = {
			.process = is_whole ? processes[thread->process] : NO_NUMBER,
			.tid = thread->tid,
			.name = thread->name,
			.labels = thread->labels,
		};

		threads[i] = timeline_thread(to, &moved);
	}
}

static uint64_t time_of(const struct timeline *from, const struct timeline_entry *entry,
			const struct timeline_merging *how)
{
	uint64_t at_ns = entry->bucket * from->bucket_ns;

	if (!how->has_times)
		return 0;
	return __builtin_add_overflow(at_ns, how->from_ns, &at_ns) ? UINT64_MAX : at_ns;
}

int timeline_merge(struct timeline *to, const struct timeline *from,
		   const struct timeline_merging *how)
{
	_cleanup_free_ uint32_t *processes = malloc((from->n_processes + 1) * sizeof(*processes));
	_cleanup_free_ uint32_t *threads = malloc((from->n_threads + 1) * sizeof(*threads));

	if (!processes || !threads)
		return -ENOMEM;
	if (!how->has_same_pids)
		map64_fini(&to->process_numbers); /* rows stay, but no PID finds them any more */
	if (how->has_times)
		move_times(to, how->to_ns);
	else
		forget_times(to);
	merge_rows(to, from, processes, threads);
	for (size_t i = 0; i < from->n_entries; i++) {
		struct timeline_entry entry = from->entries[i];

		entry.thread = entry.thread < from->n_threads ? threads[entry.thread] : NO_NUMBER;
		timeline_add(to, time_of(from, &entry, how), &entry);
	}
	to->lost_samples += from->lost_samples;
	to->lost_names += from->lost_names;
	timeline_sort(to);
	return 0;
}
