// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the perf maps of all processes -> how large each may become, and which are removed
 * units:   bytes of files; CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  none; a file that cannot be removed is met again
 * source:  none
 *
 * Perf maps lie where others have files too, and how large they become is up to the JVMs. So all of
 * them together take at most max_bytes, and at most half of what would be free without them.
 *
 * Living processes have three quarters of that. Where they want more, owners (guard/owner.h: a
 * container, or a user of the host) have equal shares, and so have the processes of an owner. A
 * process's share is for two files, because a perf map is made beside the last one. A perf map that
 * is larger than its share allows is cut (perf_map.h).
 *
 * The perf map of a process that has ended is kept for MAP_STORE_KEEP_SEC, unless room is short.
 * So that there is an eighth for what comes within a second, all have three quarters after each
 * second: kept perf maps go, those of the owner with the most bytes first, and the oldest of these
 * first. There are MAP_STORE_MAX_KEPT of them at most. The last eighth is for perf maps that are
 * no larger than their part, by which all would have equally much: nobody who wants more leaves
 * them without room. Each line is
 * counted when it is added to a draft, and nothing is added past the limit but for
 * MAP_WRITER_LEAST_BYTES of a perf map.
 *
 * The directory is searched for files of earlier collectors, and of collectors that were killed.
 * Such perf maps count as kept, by an owner that nobody is. Nothing but regular files of the
 * collector's user that begin as its perf maps do is ever removed. The search goes on a little at
 * each call, and takes a hundredth of the time at most, because anybody may fill the directory.
 */
#ifndef FG_MAPS_MAP_STORE_H
#define FG_MAPS_MAP_STORE_H

#include "base/counters.h"
#include "base/map64.h"
#include "guard/owner.h"
#include "maps/map_writer.h"

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MAP_STORE_BYTES	   (UINT64_C(1) << 30) /* unless told otherwise */
#define MAP_STORE_LEAST	   (UINT64_C(1) << 20)
#define MAP_STORE_MOST	   (UINT64_C(1) << 40)
#define MAP_STORE_MAX_KEPT 4096
#define MAP_STORE_KEEP_SEC (24L * 60 * 60)
#define MAP_STORE_TEMP_SEC 60 /* no temporary file is in use for as long */

/* A process with a perf map that is written. */
struct map_store_live {
	struct owner owner;
	struct map_writer *writer;
	const struct code_map *code;
};

struct map_store_stats {
	struct map_room room;
	size_t kept;
	uint64_t removed; /* perf maps of the ended that were removed for room */
};
extern const struct counters map_store_counters;

struct map_store {
	const char *dir; /* borrowed; NULL: there are no perf maps */
	uint64_t max_bytes;
	/* Whether a process's perf map is written by this collector. */
	bool (*is_live)(void *arg, pid_t pid);
	void *is_live_arg;
	long keep_sec;

	struct map_store_stats stats;
	struct map64 kept; /* PID -> struct kept_map */

	DIR *search; /* NULL: none goes on */
	uint64_t next_search_ns, searched_ns, searches;
};

void map_store_init(struct map_store *store, const char *dir, uint64_t max_bytes,
		    bool (*is_live)(void *arg, pid_t pid), void *arg);
void map_store_fini(struct map_store *store);
size_t map_store_heap_bytes(const struct map_store *store); /* memory, not files */

/*
 * Sets how large the writer's next perf map may become, and has the writer count what its files
 * take. To be called before map_writer_step. The store stays where it is until map_store_keep.
 */
void map_store_allow(struct map_store *store, struct map_writer *writer);
/* The writer's process has ended or is forgotten: its perf map is kept. */
void map_store_keep(struct map_store *store, pid_t pid, struct owner owner,
		    struct map_writer *writer);

/* The writer's process has ended, and nobody wants its perf map: the file is removed. */
void map_store_drop(struct map_store *store, pid_t pid, struct map_writer *writer);

/* Shares the room anew, and has perf maps written again whose share has changed. */
void map_store_share(struct map_store *store, struct map_store_live *live, size_t count,
		     uint64_t now_ns);

/* Searches on in the directory. Returns how many files were removed. */
int map_store_search(struct map_store *store, uint64_t now_ns);
/* When map_store_search has something to do. */
uint64_t map_store_due_ns(const struct map_store *store);
/* Searches the whole directory at once. Returns how many files were removed, or negative errno. */
int map_store_search_all(struct map_store *store);

#endif
