// SPDX-License-Identifier: Apache-2.0
/* What recordings count, see recording.h. */
#include "recording/recording.h"

static const struct counter counters[] = {
	COUNTER_SUM(struct recording_counts, waits, "recordings.samples_waited",
		    "samples_waited_total", "Samples that waited for tables of files."),
	COUNTER_SUM(struct recording_counts, hurried, "recordings.samples_hurried",
		    "samples_hurried_total",
		    "Samples that were named although a table was missing."),
	COUNTER_SUM(struct recording_counts, received, "recordings.process_records",
		    "process_records_total", "Records of what happened to processes."),
	COUNTER_SUM(struct recording_counts, lost, "recordings.process_records_lost",
		    "process_records_lost_total",
		    "Records of what happened to processes that the kernel had no room for."),
	COUNTER_SUM(struct recording_counts, unread, "recordings.processes_unread",
		    "processes_unread_total",
		    "Processes that were too many to be looked at as they began."),
	COUNTER_SUM(struct recording_counts, reread, "recordings.processes_reread",
		    "processes_reread_total",
		    "Processes whose mappings were read again after records were lost."),
	COUNTER_SUM(struct recording_counts, reread_put_off, "recordings.rereads_put_off",
		    "processes_reread_put_off_total", "Of these, those that had to wait."),
	COUNTER_SUM(struct recording_counts, merged, "recordings.samples_merged",
		    "samples_merged_total",
		    "Samples for which another one stands, because more came than may be taken."),
	COUNTER_SUM(struct recording_counts, unread_pages, "recordings.samples_with_unread_pages",
		    "samples_with_unread_pages_total",
		    "Samples of which a page of the stack was not in memory."),
	COUNTER_SUM(struct recording_counts, unlisted, "recordings.processes_unlisted",
		    "processes_unlisted_total",
		    "Wanted processes without room in BPF's table, so that samples of all came."),
	COUNTER_SUM(struct recording_counts, outside_left_out, "recordings.outside_left_out",
		    "outside_jvms_left_out_total",
		    "JVMs without an agent that a recording by name had no room for."),
	COUNTER_SUM(struct recording_counts, waker_stacks_unnamed,
		    "recordings.threads.waker_stacks_lost", "thread_waker_stacks_lost_total",
		    "Stacks of wakers that were not read, had no room, or came too late.",
		    COUNTER_PLUS(offsetof(struct recording_counts, clock.waits.wakers_lost),
				 offsetof(struct recording_counts, clock.times.wakers_left_out))),
	COUNTER_SUM(struct recording_counts, probe_lost, "recordings.probes.lost",
		    "probe_samples_lost_total",
		    "Samples of probes without room in their ring buffer, or whose thread was "
		    "interrupted."),
	COUNTER_SUM(struct recording_counts, probe_merged, "recordings.probes.merged",
		    "probe_samples_merged_total",
		    "Hits of probes for which another sample stands, because more came than are "
		    "taken."),
	COUNTER_SUM(struct recording_counts, probe_senseless, "recordings.probes.senseless",
		    "probe_samples_senseless_total",
		    "Samples of probes that told what no JVM tells."),
	COUNTER_SUM(struct recording_counts, parked_elsewhere, "recordings.probes.parked_elsewhere",
		    "probe_samples_parked_elsewhere_total",
		    "Samples of threads that parked, but not to wait for a lock."),
	COUNTER_SUM(
		struct recording_counts, lock_waits_left_out,
		"recordings.probes.lock_waits_left_out", "probe_lock_waits_left_out_total",
		"Waits for monitors past the limits of memory, and ends of waits without a begin."),
	COUNTER_SUM(struct recording_counts, live.watched, "recordings.probes.live.watched",
		    "probe_live_watched_total",
		    "Sampled objects that were watched until they died."),
	COUNTER_SUM(struct recording_counts, live.dead, "recordings.probes.live.dead",
		    "probe_live_dead_total", "Of the watched objects, those that have died."),
	COUNTER_SUM(struct recording_counts, live.unwatched, "recordings.probes.live.unwatched",
		    "probe_live_unwatched_total",
		    "Sampled objects that were not watched, because others stand for them."),
	COUNTER_SUM(struct recording_counts, live.left_out, "recordings.probes.live.left_out",
		    "probe_live_left_out_total", "Sampled objects past the limits of memory."),
	COUNTER_SUM(struct recording_counts, live.lost, "recordings.probes.live.lost",
		    "probe_live_lost_total",
		    "Records that told of deaths, or may have, without room."),
};

const struct counters recording_counters = COUNTERS(struct recording_counts, counters);

void recording_counts_add(struct recording_counts *to, const struct recording_counts *from)
{
	counters_add(&recording_counters, to, from);
	counters_add(&thread_clock_counters, &to->clock, &from->clock);
	counters_add(&thread_times_counters, &to->clock.times, &from->clock.times);
	counters_add(&wait_source_counters, &to->clock.waits, &from->clock.waits);
}
