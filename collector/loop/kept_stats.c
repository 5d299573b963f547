// SPDX-License-Identifier: Apache-2.0
/* Counts what is kept of processes and recordings, see kept_stats.h. */
#include "loop/kept_stats.h"

#include "recording/recording.h"
#include "process/process_bytes.h"
#include "process/targets.h"

void kept_stats_count(const struct targets *targets, const struct recording *recordings,
		      struct kept_stats *ret)
{
	const struct process *process;
	size_t pos = 0;

	*ret = (struct kept_stats){.processes = targets->processes.count,
				   .max_processes = TARGETS_MAX_PROCESSES,
				   .jvms = targets->n_jvms,
				   .max_jvms = TARGETS_MAX_JVMS,
				   .sessions = targets->sessions.count,
				   .threads_forgotten = targets->threads_forgotten};
	while ((process = targets_next(targets, &pos))) {
		ret->mappings += process->space.count;
		ret->threads += process->threads.count;
		ret->thread_names += process->thread_names.count;
		ret->interpreted_methods += process->java_methods.by_addr.count;
		ret->threads_forgotten += process->threads_forgotten;
		ret->code_bytes += process_code_bytes(process);
	}
	for (const struct recording *r = recordings; r; r = r->next) {
		ret->held_bytes += r->hold.bytes;
		ret->held_dropped += r->hold.dropped;
	}
}

static const struct counter counters[] = {
	COUNTER_GAUGE(struct kept_stats, processes, "kept.processes", "processes",
		      "Processes that are known."),
	COUNTER_GAUGE(struct kept_stats, max_processes, "kept.max_processes", "processes_limit",
		      "The most processes that are known at a time."),
	COUNTER_GAUGE(struct kept_stats, jvms, "kept.jvms", "jvms", "JVMs that are known."),
	COUNTER_GAUGE(struct kept_stats, max_jvms, "kept.max_jvms", "jvms_limit",
		      "The most JVMs that are known at a time."),
	COUNTER_GAUGE(struct kept_stats, sessions, "kept.sessions", "sessions",
		      "Sessions of agents that are open."),
	COUNTER_GAUGE(struct kept_stats, code_bytes, "kept.code_bytes", "code_bytes",
		      "Memory of code maps, methods and names of all JVMs."),
	COUNTER_GAUGE(struct kept_stats, mappings, "kept.mappings", "mappings",
		      "Mappings of all processes."),
	COUNTER_GAUGE(struct kept_stats, name_bytes, "kept.name_bytes", "name_bytes",
		      "Memory of names of frames."),
	COUNTER_SUM(struct kept_stats, names_forgotten, "kept.names_forgotten",
		    "names_forgotten_total",
		    "Times that all names of frames were forgotten because they were too many."),
	COUNTER_SUM(struct kept_stats, refused_clients, "kept.clients_refused",
		    "clients_refused_total", "Clients of the control socket that were too many."),
	COUNTER_GAUGE(struct kept_stats, threads, "kept.threads", "process_threads",
		      "Threads that are known."),
	COUNTER_GAUGE(struct kept_stats, thread_names, "kept.thread_names", "process_thread_names",
		      "Names of threads that agents told."),
	COUNTER_SUM(
		struct kept_stats, threads_forgotten, "kept.threads_forgotten",
		"process_threads_forgotten_total",
		"Times that all threads of a process were forgotten, because they were too many."),
	COUNTER_GAUGE(struct kept_stats, interpreted_methods, "kept.interpreted_methods",
		      "interpreted_methods", "Interpreted methods that have been read."),
	COUNTER_GAUGE(struct kept_stats, held_bytes, "kept.held_bytes", "samples_held_bytes",
		      "Memory of samples that wait to be named."),
	COUNTER_SUM(struct kept_stats, held_dropped, "kept.held_dropped",
		    "samples_held_dropped_total", "Samples and records that had no room to wait."),
	COUNTER_GAUGE(struct kept_stats, recordings, "kept.recordings", "recordings",
		      "Recordings that run."),
	COUNTER_GAUGE(struct kept_stats, max_recordings, "kept.max_recordings", "recordings_limit",
		      "The most recordings that run at a time."),
};

const struct counters kept_counters = COUNTERS(struct kept_stats, counters);
