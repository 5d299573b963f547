// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the perf map that a process's runtime writes, as the file grows -> its foreign map
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  a file that is refused is counted and looked for again
 * source:  foreign_file.h, foreign_map.h
 *
 * The perf map is looked for ten times in the first second and once a second from then on. Lines
 * that were appended are read every FOREIGN_READ_INTERVAL_NS, a limited number of bytes at a time.
 * The file stays open, so that the last lines of a process that has ended are still read. If
 * another file takes the name, or the file becomes shorter, it is read from the beginning, and its
 * lines go before earlier lines. A zero-filled struct foreign_reader is a valid start.
 *
 * The file may lie on a file system that does not answer. So the file is looked for, read and
 * closed by guarded calls (base/guarded.h). What has not answered in time is tried again later.
 */
#ifndef FG_MAPS_FOREIGN_READER_H
#define FG_MAPS_FOREIGN_READER_H

#include "maps/foreign_file.h"
#include "maps/foreign_map.h"

#define FOREIGN_READ_INTERVAL_NS UINT64_C(100000000)
#define FOREIGN_LOOK_INTERVAL_NS UINT64_C(1000000000)
#define FOREIGN_MAX_FILE_BYTES	 ((off_t)512 << 20)

/* Sums over all readers. */
struct foreign_reader_stats {
	struct foreign_map_stats maps;
	uint64_t files;	   /* files opened */
	uint64_t restarts; /* files that were replaced by another file, or became shorter */
	uint64_t refused;  /* files of another user, older than the process or not regular */
	uint64_t unread;   /* files not read beyond FOREIGN_MAX_FILE_BYTES */
	uint64_t read_bytes;
};

struct foreign_reader {
	struct foreign_map *map; /* NULL: no file was ever found */
	int fd;			 /* valid if is_open */
	pid_t pid;		 /* of the process for which fd was opened */
	bool is_open, is_refused, is_large;
	dev_t dev;
	ino_t ino;
	off_t offset;
	uint32_t looks;	   /* times that the file was looked for, at most 10 */
	time_t began_at;   /* when the process began to run its program; 0: not read yet */
	uint64_t whole_ns; /* when the last read began that came to the file's end; 0: none yet */
	uint64_t next_ns;  /* when to read next; 0: at once */
	uint64_t look_ns;  /* when to look for the file next */
};

void foreign_reader_fini(struct foreign_reader *reader);

/* The process has just begun another program: closes the file and forgets its map. */
void foreign_reader_restart(struct foreign_reader *reader);

/*
 * Looks for the file if that is due, and reads to its end, or max_bytes and a little more. Returns
 * the number of bytes read.
 */
size_t foreign_reader_step(struct foreign_reader *reader, const struct foreign_owner *owner,
			   size_t max_bytes, struct foreign_reader_stats *stats);

#endif
