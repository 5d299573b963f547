// SPDX-License-Identifier: Apache-2.0
/* What all processes together count, see targets.h. */
#include "process/targets.h"

static const struct counter counters[] = {
	COUNTER_SUM(struct targets, refused_sessions, "refused_sessions", "refused_sessions_total",
		    "Sessions of processes that are gone, or past the most JVMs."),
	COUNTER_SUM(struct targets, map_failures, "map_failures", "map_failures_total",
		    "Perf maps that could not be written."),
	COUNTER_SUM(struct targets, second_agents, "second_agents", "second_agents_total",
		    "Sessions of a JVM's second agent, which are not heard."),
	COUNTER_SUM(struct targets, second_agent_records, "second_agent_records",
		    "second_agent_records_total", "Records of second agents."),
	COUNTER_SUM(struct targets, refused_processes, "kept.processes_refused",
		    "processes_refused_total", "Processes that were past that."),
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
