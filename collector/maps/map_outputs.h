// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   changes of the code of all JVMs -> their perf maps, and the jitdump
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  a file that cannot be written is counted and said, and tried again
 * source:  code/code_listener.h
 *
 * The perf map <dir>/perf-<pid>.map of every JVM is written within 100 ms of a change, at most ten
 * times a second, and less often where a write takes long: no perf map costs more than a tenth of
 * the time. maps/map_store.h says how large perf maps may become, and how long those of processes
 * that are gone stay. If jitdump is set, new code of all JVMs goes into the jitdump too.
 *
 * When a JVM has ended, its last perf map is due at once, without the pause after the one before.
 * What is not written when the process is forgotten, TARGETS_LINGER_NS later at the earliest, is
 * not in its file, and is counted.
 */
#ifndef FG_MAPS_MAP_OUTPUTS_H
#define FG_MAPS_MAP_OUTPUTS_H

#include "base/counters.h"
#include "maps/due_heap.h"
#include "maps/jitdump_target.h"
#include "maps/map_store.h"
#include "process/targets.h"

/* What is written of one process's code. */
struct map_output {
	struct due due; /* the first member */
	struct process *process;
	struct map_writer map;
	struct jitdump_target jitdump;
	char *shadow_path;   /* a file that perf reads rather than the perf map; or NULL */
	bool shadow_is_used; /* the process may have written that file itself */
};

struct map_outputs {
	struct targets *targets;     /* borrowed */
	const char *dir;	     /* borrowed */
	struct map_store store;	     /* the room for perf maps */
	struct perf_map_style style; /* the default unless the owner sets another */
	struct jitdump *jitdump;     /* owned; NULL: no jitdump is written */
	bool keeps_tools;	   /* perf maps of tools that pass (process_is_passing) stay too */
	uint64_t writes, failures; /* of perf maps */
	uint64_t unfinished; /* perf maps of processes that were forgotten before a last write */
	uint64_t turn_ns;    /* of the loop's time, for the files of a turn */
	uint64_t next_share_ns;
	struct due_heap heap;
	size_t count; /* of all outputs, for which the heap has room */
	struct code_listener listener;
};
extern const struct counters map_outputs_counters;

/* Listens to the targets until map_outputs_fini, which comes before that of the targets. */
void map_outputs_init(struct map_outputs *outputs, struct targets *targets, const char *dir);
void map_outputs_fini(struct map_outputs *outputs);

/* When map_outputs_step next has something to do. */
uint64_t map_outputs_due_ns(const struct map_outputs *outputs);
/* Writes what is due, until that has taken turn_ns. */
void map_outputs_step(struct map_outputs *outputs, uint64_t now_ns);
/* The memory of lists, which all processes share. */
size_t map_outputs_bytes(const struct map_outputs *outputs);

/* What is counted of the files of one process. */
struct map_output_stats {
	uint64_t cut, failures, bytes;
};
extern const struct counters map_output_counters;

/* Zeros for a process of which nothing is written. */
void map_output_stats(const struct process *process, struct map_output_stats *ret);
/* The path of the process's perf map; "" if nobody writes it. */
void map_output_path(const struct process *process, char ret[PATH_MAX]);

#endif
