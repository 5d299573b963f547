// SPDX-License-Identifier: Apache-2.0
/* What a process and its JVM count, and all processes together: process.h, targets.h. */
#include "process/targets.h"

static const char *loss_name(size_t reason)
{
	return wire_loss_reason_name((uint16_t)reason);
}

static const char *unnamed_name(size_t reason)
{
	return java_methods_reason_name((enum java_methods_reason)reason);
}

static const struct counter jvm_rows[] = {
	COUNTER_SUM(struct jvm, resyncs, "resyncs", "jvm_resyncs_total",
		    "Times that the agent has told of all code."),
	COUNTER_SUM(struct jvm, lost, "lost_by_agent", "jvm_lost_by_agent_total",
		    "What the agent lost, by reason.",
		    COUNTER_EACH(struct jvm, lost, "reason", loss_name), .is_sparse = true),
	COUNTER_SUM(struct jvm, gaps, "gaps", "jvm_gaps_total",
		    "Jumps of the sequence numbers of the agent's messages."),
	COUNTER_SUM(struct jvm, bad_records, "bad_records", "jvm_bad_records_total",
		    "Records of the agent that could not be used."),
	COUNTER_SUM(struct jvm, unknown_records, "unknown_records", "jvm_unknown_records_total",
		    "Records of a kind that is not known."),
	COUNTER_SUM(struct jvm, name_limit_hits, "name_limit_hits", "jvm_name_limit_hits_total",
		    "Names that there was no room for."),
	COUNTER_SUM(struct jvm, lost_inlines, "lost_inline_tables", "jvm_lost_inline_tables_total",
		    "Inline tables that were broken or had no room."),
	COUNTER_SUM(struct jvm, lost_frames, "lost_frame_facts", "jvm_lost_frame_facts_total",
		    "Facts of frames that were broken or cannot be."),
	COUNTER_SUM(struct jvm, unnamed_methods, "unnamed_interpreted",
		    "jvm_unnamed_interpreted_total",
		    "Frames of interpreted methods without a name, by reason.",
		    COUNTER_EACH(struct jvm, unnamed_methods, "reason", unnamed_name),
		    .is_sparse = true),
	COUNTER_GAUGE(struct jvm, probes.alloc_interval, "probes.alloc_interval_bytes",
		      "jvm_probe_alloc_interval_bytes",
		      "Bytes between sampled allocations; 0: none are sampled."),
	COUNTER_SUM(struct jvm, probes.alloc_events, "probes.alloc_events",
		    "jvm_probe_alloc_events_total", "Allocations that were sampled."),
	COUNTER_SUM(struct jvm, probes.alloc_bytes, "probes.alloc_bytes",
		    "jvm_probe_alloc_bytes_total", "Bytes of these allocations."),
	COUNTER_GAUGE(struct jvm, probes.live_objects, "probes.alloc_watched",
		      "jvm_probe_alloc_watched",
		      "Sampled objects to which the agent has a weak reference."),
	COUNTER_GAUGE(struct jvm, probes.live_level, "probes.alloc_watch_level",
		      "jvm_probe_alloc_watch_level",
		      "Of the sampled objects one of 2^level is watched."),
	COUNTER_SUM(struct jvm, probes.lock_events, "probes.lock_events",
		    "jvm_probe_lock_events_total", "Waits for locks that were observed."),
	COUNTER_SUM(struct jvm, probes.lock_ns, "probes.lock_ns", "jvm_probe_lock_seconds_total",
		    "The time of these waits.", .unit = COUNTER_NS),
};

const struct counters jvm_counters = COUNTERS(struct jvm, jvm_rows);

static const struct counter process_rows[] = {
	COUNTER_GAUGE(struct process, inner_pid, "inner_pid", "jvm_inner_pid",
		      "The PID that the JVM itself sees."),
	COUNTER_GAUGE(struct process, java_methods.by_addr.count, "interpreted_methods",
		      "jvm_interpreted_methods", "Interpreted methods that have been read."),
	COUNTER_SUM(struct process, samples.samples, "sampled.samples", "jvm_samples_total",
		    "Samples of processor time that the daemon's own sampling has kept."),
	COUNTER_SUM(struct process, samples.unnamed, "sampled.unnamed", "jvm_unnamed_samples_total",
		    "Those of them with a Java frame without a name."),
	COUNTER_SUM(struct process, samples.unrooted, "sampled.unrooted",
		    "jvm_unrooted_samples_total",
		    "Those of them whose stack does not reach the thread's entry."),
	COUNTER_SUM(struct process, space.dropped, "dropped_mappings", "jvm_dropped_mappings_total",
		    "Mappings that there was no room for."),
};

const struct counters process_counters = COUNTERS(struct process, process_rows);

static const struct counter counters[] = {
	COUNTER_SUM(struct targets, refused_sessions, "refused_sessions", "refused_sessions_total",
		    "Sessions of processes that are gone, or past the most JVMs."),
	COUNTER_SUM(struct targets, second_agents, "second_agents", "second_agents_total",
		    "Sessions of a JVM's second agent, which are not heard."),
	COUNTER_SUM(struct targets, second_agent_records, "second_agent_records",
		    "second_agent_records_total", "Records of second agents."),
	COUNTER_SUM(struct targets, pool.refused, "kept.processes_refused",
		    "processes_refused_total",
		    "Processes past the most, of whose container or user there were most."),
	COUNTER_SUM(struct targets, pool.evicted, "kept.processes_evicted",
		    "processes_evicted_total",
		    "Processes that were forgotten for another container's or user's."),
	COUNTER_GAUGE(struct targets, max_bytes, "kept.max_code_bytes", "code_limit_bytes",
		      "The most memory of code maps, methods and names of all JVMs."),
	COUNTER_SUM(struct targets, dropped_jvms, "kept.jvms_dropped", "jvms_dropped_total",
		    "JVMs whose code was forgotten because that of all was too much."),
};

const struct counters targets_counters = COUNTERS(struct targets, counters);

void targets_count_containers(const struct targets *targets, struct containers_stats *ret)
{
	const struct process *process;
	size_t pos = 0;

	containers_stats(&targets->containers, ret);
	while ((process = targets_next(targets, &pos)))
		ret->labels_left_out += process->workload.labels.left_out;
}
