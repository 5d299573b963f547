// SPDX-License-Identifier: Apache-2.0
/* What pushing counts, see push_stats.h. */
#include "push/push_stats.h"

static const char *quality_name(size_t quality)
{
	static const char *const names[PUSH_QUALITIES] = {
		[PUSH_ALL] = "all",
		[PUSH_UNNAMED] = "unnamed",
		[PUSH_NOT_ROOTED] = "not_rooted",
		[PUSH_OVERFLOW] = "overflow",
	};

	return names[quality];
}

static const struct counter counters[] = {
	COUNTER_GAUGE(struct push_stats, waiting_bytes, "push.waiting_bytes", "push_waiting_bytes",
		      "Memory of graphs that wait to be made profiles."),
	COUNTER_SUM(struct push_stats, graphs_dropped, "push.graphs_dropped",
		    "push_graphs_dropped_total",
		    "Graphs that were dropped because others were still being made profiles."),
	COUNTER_SUM(struct push_stats, series_unwanted, "push.series_unwanted",
		    "push_series_unwanted_total",
		    "Graphs, or thread pools of a kind, that relabelling does not want."),
	COUNTER_SUM(struct push_stats, labels_left_out, "push.labels_left_out",
		    "push_labels_left_out_total", "Labels that were left out: a server takes 30."),
	COUNTER_SUM(struct push_stats, stacks_cut, "push.stacks_cut", "push_stacks_cut_total",
		    "Stacks that were cut: a server takes 1,000 frames."),
	COUNTER_SUM(struct push_stats, stacks_too_large, "push.stacks_too_large",
		    "push_stacks_too_large_total",
		    "Stacks that are left out: one alone is more than a server takes."),
	COUNTER_SUM(struct push_stats, profiles_split, "push.profiles_split",
		    "push_profiles_split_total",
		    "Profiles that became two because a server takes no larger ones."),
	COUNTER_SUM(struct push_stats, profiles_unmade, "push.profiles_unmade",
		    "push_profiles_unmade_total",
		    "Profiles that could not be made for lack of memory."),
	COUNTER_SUM(struct push_stats, samples, "push.samples", "push_quality_samples_total",
		    "Samples of processor time that profiles were made of, by their flaws.",
		    COUNTER_EACH(struct push_stats, samples, "quality", quality_name)),
};

const struct counters push_counters = COUNTERS(struct push_stats, counters);

static const struct counter target_counters[] = {
	COUNTER_SUM(struct push_target_stats, made.profiles, "push.profiles_made",
		    "push_profiles_made_total", "Profiles that were made.",
		    COUNTER_BALANCE("pushed profiles", COUNTER_ENTERS)),
	COUNTER_SUM(struct push_target_stats, made.samples, "push.samples_made",
		    "push_samples_made_total",
		    "Samples of processor time in profiles that were made.",
		    COUNTER_BALANCE("pushed samples", COUNTER_ENTERS)),
	COUNTER_SUM(struct push_target_stats, found.profiles, "push.profiles_found",
		    "push_profiles_found_total", "Profiles of an earlier run that the spool had.",
		    COUNTER_BALANCE("pushed profiles", COUNTER_ENTERS)),
	COUNTER_SUM(struct push_target_stats, found.samples, "push.samples_found",
		    "push_samples_found_total",
		    "Samples of processor time in profiles of an earlier run that the spool had.",
		    COUNTER_BALANCE("pushed samples", COUNTER_ENTERS)),
	COUNTER_SUM(struct push_target_stats, sent.profiles, "push.profiles_sent",
		    "push_profiles_sent_total", "Profiles that the server took.",
		    COUNTER_BALANCE("pushed profiles", COUNTER_LEAVES)),
	COUNTER_SUM(struct push_target_stats, sent.samples, "push.samples_sent",
		    "push_samples_sent_total",
		    "Samples of processor time in profiles that the server took.",
		    COUNTER_BALANCE("pushed samples", COUNTER_LEAVES)),
	COUNTER_SUM(struct push_target_stats, refused.profiles, "push.profiles_refused",
		    "push_profiles_refused_total", "Profiles that the server will never take.",
		    COUNTER_BALANCE("pushed profiles", COUNTER_DROPS)),
	COUNTER_SUM(struct push_target_stats, refused.samples, "push.samples_refused",
		    "push_samples_refused_total",
		    "Samples of processor time in profiles that the server will never take.",
		    COUNTER_BALANCE("pushed samples", COUNTER_DROPS)),
	COUNTER_SUM(struct push_target_stats, in_doubt.profiles, "push.profiles_in_doubt",
		    "push_profiles_in_doubt_total",
		    "Profiles that may have arrived, and are not sent again.",
		    COUNTER_BALANCE("pushed profiles", COUNTER_DROPS)),
	COUNTER_SUM(struct push_target_stats, in_doubt.samples, "push.samples_in_doubt",
		    "push_samples_in_doubt_total",
		    "Samples of processor time in profiles that may have arrived, and are not sent "
		    "again.",
		    COUNTER_BALANCE("pushed samples", COUNTER_DROPS)),
	COUNTER_SUM(struct push_target_stats, dropped_full.profiles, "push.profiles_dropped_full",
		    "push_profiles_dropped_full_total",
		    "Profiles that were dropped: the spool had no room.",
		    COUNTER_BALANCE("pushed profiles", COUNTER_DROPS)),
	COUNTER_SUM(
		struct push_target_stats, dropped_full.samples, "push.samples_dropped_full",
		"push_samples_dropped_full_total",
		"Samples of processor time in profiles that were dropped: the spool had no room.",
		COUNTER_BALANCE("pushed samples", COUNTER_DROPS)),
	COUNTER_SUM(struct push_target_stats, dropped_old.profiles, "push.profiles_dropped_old",
		    "push_profiles_dropped_old_total",
		    "Profiles that were dropped: they were too old.",
		    COUNTER_BALANCE("pushed profiles", COUNTER_DROPS)),
	COUNTER_SUM(struct push_target_stats, dropped_old.samples, "push.samples_dropped_old",
		    "push_samples_dropped_old_total",
		    "Samples of processor time in profiles that were dropped: they were too old.",
		    COUNTER_BALANCE("pushed samples", COUNTER_DROPS)),
	COUNTER_SUM(struct push_target_stats, dropped_failed.profiles,
		    "push.profiles_dropped_failed", "push_profiles_dropped_failed_total",
		    "Profiles that were lost: disk and memory did not take them, or their file was "
		    "damaged.",
		    COUNTER_BALANCE("pushed profiles", COUNTER_DROPS)),
	COUNTER_SUM(struct push_target_stats, dropped_failed.samples, "push.samples_dropped_failed",
		    "push_samples_dropped_failed_total",
		    "Samples of processor time in profiles that were lost: disk and memory did not "
		    "take them, or their file was damaged.",
		    COUNTER_BALANCE("pushed samples", COUNTER_DROPS)),
	COUNTER_GAUGE(struct push_target_stats, waiting.profiles, "push.profiles_waiting",
		      "push_profiles_waiting", "Profiles that wait to be sent.",
		      COUNTER_BALANCE("pushed profiles", COUNTER_STAYS)),
	COUNTER_GAUGE(struct push_target_stats, waiting.samples, "push.samples_waiting",
		      "push_samples_waiting",
		      "Samples of processor time in profiles that wait to be sent.",
		      COUNTER_BALANCE("pushed samples", COUNTER_STAYS)),
	COUNTER_GAUGE(struct push_target_stats, lag_sec, "push.lag_sec", "push_lag_seconds",
		      "Age of the oldest profile that waits to be sent, or is being sent; 0: there "
		      "is none."),
	COUNTER_GAUGE(struct push_target_stats, waiting_bytes, "push.spool_bytes",
		      "push_spool_bytes", "What profiles that wait to be sent take."),
	COUNTER_GAUGE(struct push_target_stats, memory_bytes, "push.memory_bytes",
		      "push_memory_bytes", "Of this, in memory."),
	COUNTER_SUM(struct push_target_stats, sent_bytes, "push.sent_bytes",
		    "push_sent_bytes_total", "Bytes of profiles that the server took."),
	COUNTER_SUM(struct push_target_stats, failed_tries, "push.failed_tries",
		    "push_failed_tries_total",
		    "Times that a profile could not be sent and waits again."),
	COUNTER_SUM(struct push_target_stats, damaged, "push.damaged_files",
		    "push_damaged_files_total", "Files of the spool that were no whole profiles."),
	COUNTER_GAUGE(struct push_target_stats, undeleted, "push.undeleted_files",
		      "push_undeleted_files",
		      "Files of the spool that are done with and cannot be removed."),
	COUNTER_GAUGE(struct push_target_stats, clock_skew_sec, "push.clock_skew_sec",
		      "push_clock_skew_seconds",
		      "The server's clock less this host's, if that is 30 s or more."),
	COUNTER_GAUGE(
		struct push_target_stats, is_failing, "push.failing", "push_failing",
		"1 if the last profile could not be sent, or it is not known whether it was."),
};

const struct counters push_target_counters = COUNTERS_EACH(
	struct push_stats, targets, n_targets, struct push_target_stats, target_counters, "target");
