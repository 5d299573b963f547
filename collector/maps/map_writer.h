// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   changes of one process's code map -> the process's perf map, written in time
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  negative errno; a failed write is tried again
 * source:  perf_map.h
 *
 * Agents send events at ticks (WIRE_TICK_NS). Perf maps appear behind ticks, at most behind every
 * fourth tick, which is every 100 ms. The pause between two perf maps is at least ten times as long
 * as the writing took, so no process's perf map costs more than a tenth of a CPU.
 *
 * To make a perf map takes time. So a draft is written one tick before the perf map appears, and
 * events that come meanwhile are added to the draft's end. A large draft is written in pieces, one
 * in each step. The spare file, with which the next perf map is made faster (perf_map_pair.h), is
 * removed when no perf map was due for a second.
 *
 * All writers may share a room for their files (map_store.h). A writer that has its share, and for
 * whose next perf map there is no room now, waits until there is; any other writes what fits.
 *
 * A zero-filled struct map_writer is a valid start.
 */
#ifndef FG_MAPS_MAP_WRITER_H
#define FG_MAPS_MAP_WRITER_H

#include "code/code_map.h"
#include "maps/perf_map.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MAP_WRITER_LEAST_BYTES (4u << 10) /* a perf map may have them, whatever room there is */

/* The room of all perf maps, and what files take of it. */
struct map_room {
	uint64_t limit_bytes; /* of all files, by map_store's max_bytes and by free space */
	uint64_t live_bytes;  /* of files of living processes */
	uint64_t kept_bytes;
};

struct map_writer {
	struct perf_map_style style; /* set by the owner before the first perf map */
	uint64_t changed_ns;	     /* of the first change that the perf map lacks; 0: none */
	uint64_t marked_ns;	     /* when the last change came */
	uint64_t written_ns;	     /* when the last perf map appeared or failed */
	uint64_t next_ns;	     /* the next perf map does not appear sooner */
	uint64_t took_ns;	     /* time that the last draft took */
	uint64_t failures;
	bool is_beside;	     /* another program's file has the last perf map's name */
	size_t cut;	     /* ranges for which the last perf map had no room */
	uint64_t max_bytes;  /* of the next perf map; 0: PERF_MAP_MAX_BYTES */
	uint64_t share;	     /* for map_store.h; 0: none has been set */
	uint64_t part;	     /* for map_store.h: of the share, what nobody else's wants can take */
	uint64_t file_bytes; /* of the perf map in its place */
	struct map_room *room; /* borrowed; NULL: there is no limit in all */
	uint64_t counted;      /* of the room's live_bytes; kept by the writer */
	const char *dir; /* borrowed: the directory of perf maps; NULL before the first draft */
	struct perf_map_draft *draft;
	struct perf_map_pair
		*pair; /* the files of the last perf map; NULL: not made yet, or forgotten again */
};

/* Removes the draft and the spare file; the perf map stays, and so does what is counted. */
void map_writer_fini(struct map_writer *writer);

/* The code map has changed; range was added, or NULL for another change. */
void map_writer_mark(struct map_writer *writer, const struct code_map *code,
		     const struct code_range *range, uint64_t now_ns);

/* There is another code map, because the process runs another program: drops the draft. */
void map_writer_restart(struct map_writer *writer, uint64_t now_ns);

/* How much all files of the writer take. */
uint64_t map_writer_bytes(const struct map_writer *writer);
/* The memory of the draft and of what is known of the files. */
size_t map_writer_heap_bytes(const struct map_writer *writer);

/* When map_writer_step is due; 0: never. */
uint64_t map_writer_due_ns(const struct map_writer *writer);

/*
 * Does what is due. Returns 1 if the perf map appeared, 0 if not, or negative errno. dir must live
 * as long as the writer.
 */
int map_writer_step(struct map_writer *writer, const char *dir, pid_t pid,
		    const struct code_map *code, uint64_t now_ns);

/* The process has ended: the last perf map is due without a pause after the one before. */
void map_writer_hurry(struct map_writer *writer);

/* Forgets changes that are not written, for a process that is gone and whose write has failed. */
void map_writer_give_up(struct map_writer *writer);

#endif
