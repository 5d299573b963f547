// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's own perf map as it grows -> its foreign map
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  what cannot be opened is counted and looked for again
 * source:  foreign_file.h, foreign_map.h
 *
 * A map is looked for ten times in the first second and once a second from then on, and what was
 * appended to it is read every FOREIGN_READ_INTERVAL_NS, only so many bytes at a time. The file
 * stays open, so that the last lines of a process that has ended are still read. Another file under
 * the name, or one that became shorter, is read from its beginning, and its lines win. A
 * zero-filled reader is a valid start.
 */
#ifndef FG_MAPS_FOREIGN_READER_H
#define FG_MAPS_FOREIGN_READER_H

#include "maps/foreign_file.h"
#include "maps/foreign_map.h"

#define FOREIGN_READ_INTERVAL_NS UINT64_C(100000000)
#define FOREIGN_LOOK_INTERVAL_NS UINT64_C(1000000000)
#define FOREIGN_MAX_FILE_BYTES	 ((off_t)512 << 20)

/* Of all readers together. */
struct foreign_reader_stats {
	struct foreign_map_stats maps;
	uint64_t files;	   /* that were opened */
	uint64_t restarts; /* files that another took the place of, or that became shorter */
	uint64_t refused;  /* files of another user, older than the process or not regular */
	uint64_t unread;   /* files not read further for they are too large */
	uint64_t read_bytes;
};

struct foreign_reader {
	struct foreign_map *map; /* NULL: none was ever found */
	int fd;			 /* valid if is_open */
	bool is_open, is_refused, is_large;
	dev_t dev;
	ino_t ino;
	off_t offset;
	uint32_t looks;	   /* at its name, up to some */
	time_t began_at;   /* when the process began to run its program; 0: nobody looked yet */
	uint64_t whole_ns; /* when a read last began that came to the end; 0: none yet */
	uint64_t next_ns;  /* of reading; 0: at once */
	uint64_t look_ns;  /* when the name is looked at next */
};

void foreign_reader_fini(struct foreign_reader *reader);

/* Other code runs from now on, and what was told is no longer true. */
void foreign_reader_restart(struct foreign_reader *reader);

/* Reads until the end of what there is, max_bytes or a little more. How many that were. */
size_t foreign_reader_step(struct foreign_reader *reader, const struct foreign_owner *owner,
			   size_t max_bytes, struct foreign_reader_stats *stats);

#endif
