// SPDX-License-Identifier: Apache-2.0
/* What is counted of readings from outside, see outside_upkeep.h. */
#include "process/outside_upkeep.h"

static const struct counter counters[] = {
	COUNTER_GAUGE(
		struct outside_stats, read_now, "outside.jvms", "outside_jvms",
		"JVMs that are read from outside: without an agent, or with code of which the "
		"agent cannot tell."),
	COUNTER_SUM(struct outside_stats, steps, "outside.steps", "outside_steps_total",
		    "Readings of such JVMs."),
	COUNTER_SUM(struct outside_stats, bytes, "outside.bytes", "outside_read_bytes_total",
		    "Bytes of their memory that were read."),
	COUNTER_SUM(struct outside_stats, reads, "outside.reads", "outside_reads_total",
		    "System calls for that."),
	COUNTER_SUM(struct outside_stats, took_ns, "outside.took_us", "outside_cpu_seconds_total",
		    "Processor time of that.", .unit = COUNTER_NS_IN_US),
	COUNTER_SUM(struct outside_stats, named, "outside.named", "outside_named_total",
		    "Pieces of their code that were read."),
	COUNTER_SUM(struct outside_stats, unnamed, "outside.unnamed", "outside_unnamed_total",
		    "Pieces of their code whose method could not be read."),
	COUNTER_SUM(struct outside_stats, uninlined, "outside.uninlined", "outside_uninlined_total",
		    "Methods of theirs whose inlined methods could not be read."),
	COUNTER_SUM(struct outside_stats, unlined, "outside.unlined", "outside_unlined_total",
		    "Methods of theirs whose lines could not be read, or had no room."),
	COUNTER_SUM(struct outside_stats, reused, "outside.reused", "outside_reused_total",
		    "Addresses that had other code in the reading before."),
	COUNTER_SUM(struct outside_stats, changed, "outside.changed", "outside_changed_total",
		    "Pieces of code that changed while they were read."),
	COUNTER_SUM(struct outside_stats, left_out, "outside.left_out", "outside_left_out_total",
		    "Pieces of code that there was no room for."),
	COUNTER_SUM(struct outside_stats, cut, "outside.cut", "outside_cut_total",
		    "Command lines and environments of theirs that were read in part."),
	COUNTER_SUM(struct outside_stats, cut_threads, "outside.cut_threads",
		    "outside_cut_threads_total",
		    "Threads of theirs that have the first 15 bytes of a name, because more could "
		    "not be read: also threads that are not Java's."),
	COUNTER_SUM(struct outside_stats, beside, "outside.beside", "outside_beside_total",
		    "Pieces of code of which an agent had not told, or that got another "
		    "language's name."),
	COUNTER_SUM(struct outside_stats, errors, "outside.errors", "outside_errors_total",
		    "Readings that ended with an error."),
	COUNTER_SUM(struct outside_stats, refused, "outside.refused", "outside_refused_total",
		    "JVMs that there was no room for."),
};

const struct counters outside_counters = COUNTERS(struct outside_stats, counters);
