// SPDX-License-Identifier: Apache-2.0
/* Joins recordings, see draw_recordings.h. A fact that differs between recordings is left out. */
#include "draw/draw_recordings.h"

#include "base/log.h"
#include "profile/timeline_merge.h"

#include <stdbool.h>
#include <string.h>

static bool is_same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static void keep_same(const char **all, const char *one)
{
	if (!is_same(*all, one))
		*all = NULL;
}

static bool is_one_clock(const struct profile_info *a, const struct profile_info *b)
{
	return is_same(a->boot_id, b->boot_id) && is_same(a->host, b->host) &&
	       a->start_unix_ns > 0 && b->start_unix_ns > 0;
}

static uint64_t end_of(const struct profile_info *info)
{
	uint64_t end;

	return __builtin_add_overflow(info->start_unix_ns, info->duration_ns, &end) ? UINT64_MAX
										    : end;
}

static int merge_timelines(struct import_recording *all, const struct import_recording *one)
{
	const uint64_t a = all->info.start_unix_ns, b = one->info.start_unix_ns;
	const bool is_one = is_one_clock(&all->info, &one->info);
	const struct timeline_merging how = {
		.has_same_pids = is_one,
		.has_times = is_one,
		.to_ns = a > b ? a - b : 0,
		.from_ns = b > a ? b - a : 0,
	};

	return timeline_merge(&all->timeline, &one->timeline, &how);
}

/*
 * Merges start and duration. Clocks that cannot be compared give no start, and later recordings
 * then differ too.
 */
static void merge_times(struct profile_info *all, const struct profile_info *one)
{
	const uint64_t end = end_of(all) > end_of(one) ? end_of(all) : end_of(one);

	if (!is_one_clock(all, one)) {
		all->start_unix_ns = 0;
		all->duration_ns = 0;
		return;
	}
	if (one->start_unix_ns < all->start_unix_ns)
		all->start_unix_ns = one->start_unix_ns;
	all->duration_ns = end - all->start_unix_ns;
}

/* Merges the counts of reasons. Reasons without room count only among the unrooted samples. */
static void merge_reasons(struct profile_info *all, const struct profile_info *one)
{
	for (size_t i = 0; i < PROFILE_REASONS; i++) {
		size_t to = 0;

		while (to < PROFILE_REASONS && all->reasons[to] &&
		       !is_same(all->reasons[to], one->reasons[i]))
			to++;
		if (!one->reasons[i] || to == PROFILE_REASONS)
			continue;
		all->reasons[to] = one->reasons[i];
		all->quality.truncated_samples[to] += one->quality.truncated_samples[i];
	}
}

static void merge_facts(struct import_recording *all, const struct import_recording *one)
{
	merge_times(&all->info, &one->info);
	merge_reasons(&all->info, &one->info);
	keep_same(&all->info.host, one->info.host);
	keep_same(&all->info.boot_id, one->info.boot_id);
	keep_same(&all->info.kernel, one->info.kernel);
	keep_same(&all->info.event, one->info.event);
	keep_same(&all->info.program, one->info.program);
	keep_same(&all->title, one->title);
	keep_same(&all->subtitle, one->subtitle);
	keep_same(&all->count_name, one->count_name);
	all->notes = NULL; /* notes are about the quality of one recording */
	if (all->info.hz != one->info.hz)
		all->info.hz = 0;
}

/* Profiles of pprof have threads, and all their samples are at the begin. */
static bool has_times(const struct import_recording *recording)
{
	const struct timeline *const timeline = &recording->timeline;

	return timeline->n_entries > 0 &&
	       timeline->entries[timeline->n_entries - 1].bucket > timeline->entries[0].bucket;
}

int draw_recordings_add(struct import_recording *all, const struct import_recording *one,
			const char *path)
{
	const bool have_times = has_times(all) && has_times(one);
	const int err = merge_timelines(all, one);

	if (err)
		return err;
	if (have_times && !is_one_clock(&all->info, &one->info))
		log_warning("%s: was not recorded on the same host since it was started, so times "
			    "cannot be compared and are left out; threads are kept",
			    path);
	if (all->info.event && !is_same(all->info.event, one->info.event))
		log_warning("%s: its samples are of another event, %s, and are counted with those "
			    "of %s",
			    path, one->info.event ? one->info.event : "which is not known",
			    all->info.event);
	if (all->info.hz && all->info.hz != one->info.hz)
		log_warning("%s: was recorded at another rate, so samples have no CPU time", path);
	merge_facts(all, one);
	return 0;
}

void draw_recordings_add_stacks(struct import_recording *all, const char *path)
{
	log_warning("%s: recordings and other files are added up: stacks of recordings alone have "
		    "threads and times, and none have CPU time",
		    path);
	all->info.hz = 0;
	all->notes = NULL;
}
