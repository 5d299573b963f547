// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   changes of one process's code map -> when and how its perf map is written
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  negative errno; a failed write is tried again
 * source:  perf_map.h
 *
 * Maps appear at agents' ticks (WIRE_TICK_NS), at most every fourth, which is every 100 ms, and no
 * process's maps cost more than a tenth of a CPU: the pause is at least ten times what the writing
 * took. An event that has just missed one waits for the next. So that it does not also wait for
 * that one's making, a draft is written a tick earlier and events that come meanwhile are added to
 * its end. What is kept so that the next map is made faster goes when none was needed for a second.
 *
 * A zero-filled writer is a valid start.
 */
#ifndef FG_MAPS_MAP_WRITER_H
#define FG_MAPS_MAP_WRITER_H

#include "code/code_map.h"
#include "maps/perf_map.h"

#include <sys/types.h>

#include <stdint.h>

struct map_writer {
	struct perf_map_style style; /* the owner's choice, before the first one */
	uint64_t changed_ns;	     /* of the first change that the perf map lacks; 0: none */
	uint64_t marked_ns;	     /* when the last change came */
	uint64_t written_ns;	     /* when the last one appeared */
	uint64_t next_ns;	     /* none appears sooner */
	uint64_t took_ns;	     /* to write the last one */
	uint64_t failures;
	size_t cut;	 /* ranges for which the last one had no room */
	const char *dir; /* borrowed: where maps are; NULL before the first one */
	struct perf_map_draft *draft;
	struct perf_map_pair
		*pair; /* of the last map; NULL: none, or it has no one to come after */
};

void map_writer_fini(struct map_writer *writer);

/* The code map changed; range is what was added to it, or NULL. */
void map_writer_mark(struct map_writer *writer, const struct code_map *code,
		     const struct code_range *range, uint64_t now_ns);

/* Another code map, or another program in the process: nothing that was drafted holds. */
void map_writer_restart(struct map_writer *writer, uint64_t now_ns);

/* 0, or when map_writer_step has something to do. */
uint64_t map_writer_due_ns(const struct map_writer *writer);

/*
 * 1 if a map appeared, 0 if it was not time, negative errno. dir must live as long as the writer.
 */
int map_writer_step(struct map_writer *writer, const char *dir, pid_t pid,
		    const struct code_map *code, uint64_t now_ns);

/* Nobody will ask for it again. */
void map_writer_give_up(struct map_writer *writer);

#endif
