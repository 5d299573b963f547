// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   windows of processes -> segments and index of a store, merged and removed as they age
 * units:   nanoseconds and seconds since 1970, bytes
 * threads: one at a time; it waits for the disk
 * errors:  negative errno; what is not written is counted, and the store stays whole
 * source:  flock(2), fsync(2), SQLite's write-ahead log
 *
 * DIR/lock      locked by the one writer, whose PID is in it
 * DIR/index.db  see store_schema.h
 * DIR/segments  see store_segment.h
 *
 * Order of what is written: the files of a batch, with their bytes on the disk; then their names;
 * then one transaction of the index. Files go after the transaction that forgets them. So the index
 * never names a file that is not whole, and a file that the index does not name goes when the store
 * is opened the next time. Whoever is killed loses the batch that was being written.
 *
 * A window becomes part of its hour's segment once the hour is over: see store_merge.h.
 *
 * An index that is damaged is put aside as index.db.damaged, and a new one is made of the segments.
 */
#ifndef FG_STORE_STORE_WRITER_H
#define FG_STORE_STORE_WRITER_H

#include "profile/wall_clock.h"
#include "store/store_notes.h"
#include "store/store_segment.h"
#include "store/store_stats.h"

#include <stdbool.h>

#define STORE_WHY_BYTES	 256u
#define STORE_SETTLE_SEC 600 /* of a boot in which nothing goes by age: clocks are set then */

struct store_limits {
	uint64_t bytes;	  /* of segments and index */
	uint64_t age_sec; /* since a segment was written */
};

struct store {
	struct store_index index;
	struct store_limits limits;
	int lock_fd, segments_fd;
	struct wall_clock clock; /* the last reading */
	struct wall_clock
		clock_before; /* the batch: it holds again if the batch is not committed */
	int64_t settled_sec;  /* from this time after boot on, segments go by age */
	struct store_stats stats;
	/* the batch that is being written */
	char (*names)[STORE_SEGMENT_NAME_BYTES];
	size_t n_names, names_size;
	int64_t made_sec;
};

/*
 * Opens the store in dir, which is made if only its last part is missing. ret_why: why that failed,
 * in one line. -EBUSY: another process writes to the store.
 */
int store_open(const char *dir, const struct store_limits *limits, const struct wall_clock *now,
	       struct store **ret, char ret_why[STORE_WHY_BYTES]);
void store_close(struct store *store); /* NULL is legal */

/* Begins a batch. A batch that has begun is to be ended. */
int store_begin(struct store *store, const struct wall_clock *now);
/* Adds a window to the batch. The window is counted, in written when the batch is committed. */
int store_add(struct store *store, const struct store_window *window);
/* Ends the batch. On an error none of its windows is in the store, and all are counted. */
int store_commit(struct store *store);

/*
 * Removes what the limits ask to be removed. While somebody has more than a half of all bytes of
 * segments, these go first: a container, the containers that a user or a container has made up, or
 * all processes in no container. Takes as long as that takes; to be called after each
 * batch.
 */
int store_expire(struct store *store, const struct wall_clock *now);

/* Sets what stats say of what is there now. */
void store_count(struct store *store);

#endif
