// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the perf map in its place and its spare file -> the file of the next perf map
 * units:   bytes in the file
 * threads: one at a time
 * errors:  negative errno; a file that another process has changed is not used
 * source:  none
 *
 * A perf map appears whole, so each perf map needs a file of its own, although most lines are those
 * of the last perf map. The file of the perf map before the last one, the spare, is kept under a
 * temporary name. The next perf map is made of the spare: lines that the last perf map has more are
 * copied to the spare's end, and lines that were taken out since are overwritten. So the cost of a
 * perf map grows with its changes and not with its size.
 *
 *   in its place:  aaaa 0000 cccc dddd       0000: a line that was taken out
 *   spare:         aaaa bbbb cccc            a line has the same offset in both files
 *
 * No reader sees a file change: a spare that another process still has open is not used, and the
 * next perf map begins as a copy of the last one.
 *
 * Another program may open the perf map to write its own lines. A file that it has written to, or
 * has open for writing, is left to it under the name perf-<pid>.map (perf_map_place.h), and the
 * perf map is beside from then on.
 */
#ifndef FG_MAPS_PERF_MAP_PAIR_H
#define FG_MAPS_PERF_MAP_PAIR_H

#include "base/map64.h"
#include "maps/perf_map_place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A file as the collector left it; is_open is false if there is no file. */
struct perf_map_file {
	bool is_open;
	int fd;
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime;
};

/* The bytes of a range's lines in the file. */
struct perf_map_lines {
	uint32_t offset, len;
};

#define PERF_MAP_PAIR_MAX_BLANKS 1024

/* A zero-filled pair is valid and empty. */
struct perf_map_pair {
	uint64_t mark, unlisted,
		relisted; /* code_map_mark and code_map_stats of the perf map in its place */
	uint64_t blanked; /* bytes of taken out lines in the perf map */
	struct perf_map_file shown, spare; /* shown: the perf map in its place */
	struct perf_map_name temp;	   /* the spare's name */
	struct map64 lines; /* a range's address -> its lines in the newest perf map or draft */
	struct perf_map_lines blanks[PERF_MAP_PAIR_MAX_BLANKS]; /* to be overwritten in the spare */
	size_t n_blanks;	 /* past PERF_MAP_PAIR_MAX_BLANKS the spare is not used */
	uint64_t copies, reuses; /* perf maps that began as a copy, and as the spare */
	bool is_placed;		 /* a perf map has appeared; is_beside says under which name */
	bool is_beside;		 /* another program's file has the name perf-<pid>.map */
};

/* Removes the spare; the perf map in its place stays. */
void perf_map_pair_drop_spare(struct perf_map_pair *pair, int dirfd);
/* Removes the spare and forgets the perf map in its place, whose file stays. */
void perf_map_pair_reset(struct perf_map_pair *pair, int dirfd);

/*
 * Makes a file, under the name ret_temp, with the contents of the perf map in its place. Returns
 * the descriptor, which the caller owns. -ENOENT: the files are not as they were left, or cannot be
 * copied; the pair is reset then, and the next perf map has to be written anew.
 */
int perf_map_pair_begin(struct perf_map_pair *pair, int dirfd, pid_t pid,
			struct perf_map_name *ret_temp);

/* Makes an empty file, mode 0600, under a temporary name, open for reading and writing. */
int perf_map_pair_create(int dirfd, pid_t pid, struct perf_map_name *ret_temp);

/* Keeps where the lines of the range at addr were written. -ENOMEM. */
int perf_map_pair_note(struct perf_map_pair *pair, uint64_t addr, struct perf_map_lines lines);
/* Forgets the lines of the range at addr, and returns them to be taken out; len 0: it has none. */
struct perf_map_lines perf_map_pair_forget(struct perf_map_pair *pair, uint64_t addr);
/*
 * Overwrite lines by one line "00...0 0 fg", which perf and other readers skip: the first in a
 * buffer that is to be written, the second in the file.
 */
void perf_map_pair_fill(char *text, size_t len);
int perf_map_pair_blank(int fd, struct perf_map_lines lines);

/*
 * Puts the file fd from the name temp to the name of the PID's perf map, or beside. The file that
 * had this name becomes the spare if it is the last perf map, and is removed if it is an earlier
 * one of the collector's. On success the pair owns fd; after an error (-EEXIST: neither name is to
 * be had) all is as it was.
 */
int perf_map_pair_publish(struct perf_map_pair *pair, int dirfd, int fd,
			  const struct perf_map_name *temp, pid_t pid);

#endif
