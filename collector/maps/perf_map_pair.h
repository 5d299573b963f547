// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the perf map in its place and the one before it -> the file that becomes the next one
 * units:   bytes in the file
 * threads: one at a time
 * errors:  negative errno; a pair of which something is not as it was left holds nothing
 * source:  none
 *
 * A map appears whole, so it needs a file of its own, and most of it is what the last one was. The
 * file of the map before the last one is kept under its temporary name, brought up to the last one
 * by what that has more at its end, and by taking out the lines that it no longer has, so that the
 * cost of a map is what changed and not its size:
 *
 *   in its place:  aaaa 0000 cccc dddd       0000: a line that was taken out
 *   spare:         aaaa bbbb cccc            lines lie at the same offset in both
 *
 * Nobody reads what changes: a spare that somebody still has open is left to him, and the next map
 * begins as a copy of the last one.
 */
#ifndef FG_MAPS_PERF_MAP_PAIR_H
#define FG_MAPS_PERF_MAP_PAIR_H

#include "base/map64.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct perf_map_name {
	char text[sizeof("perf--2147483648.map.0123456789abcdef")];
};

/* As it was left; is_open is false for one that is not there. */
struct perf_map_file {
	bool is_open;
	int fd;
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime;
};

/* Where a range's lines lie. */
struct perf_map_lines {
	uint32_t offset, len;
};

#define PERF_MAP_PAIR_MAX_BLANKS 1024

/* A zero-filled pair is a valid, empty one. */
struct perf_map_pair {
	uint64_t mark, unlisted,
		relisted; /* code_map_mark and code_map_stats of the map in place */
	uint64_t blanked; /* bytes of it that were taken out */
	struct perf_map_file shown, spare;
	struct perf_map_name temp; /* the spare's */
	struct map64 lines; /* of the map in place or in the making, by the range's address */
	struct perf_map_lines blanks[PERF_MAP_PAIR_MAX_BLANKS]; /* which the spare lacks */
	size_t n_blanks;					/* more than that: no spare */
	uint64_t copies, reuses; /* how maps began that were not made anew */
};

/* Removes the spare; the map in its place stays. */
void perf_map_pair_drop_spare(struct perf_map_pair *pair, int dirfd);
/* Nothing is known any more. */
void perf_map_pair_reset(struct perf_map_pair *pair, int dirfd);

/*
 * A file under a temporary name, which is returned, that holds what the map in its place does: its
 * descriptor, the caller's from now on. -ENOENT: there is none that could be believed, and the next
 * map has to be made anew; whatever else was kept is gone then.
 */
int perf_map_pair_begin(struct perf_map_pair *pair, int dirfd, pid_t pid,
			struct perf_map_name *ret_temp);

/* A new file under a temporary name, open for reading and writing, which others cannot read yet. */
int perf_map_pair_create(int dirfd, pid_t pid, struct perf_map_name *ret_temp);

/* A range's lines were written. -ENOMEM, -EFBIG: they could not be found again. */
int perf_map_pair_note(struct perf_map_pair *pair, uint64_t addr, struct perf_map_lines lines);
/* A range is shown no longer: where its lines are to be taken out; len 0 if it has none. */
struct perf_map_lines perf_map_pair_forget(struct perf_map_pair *pair, uint64_t addr);
/*
 * Overwrites lines by one that perf and other readers skip: "00...0 0 fg". In the file, or in a
 * buffer that is to be written.
 */
void perf_map_pair_fill(char *text, size_t len);
int perf_map_pair_blank(int fd, struct perf_map_lines lines);

/*
 * Puts the file fd, which has the name temp, in the place of the map, whole. What was there becomes
 * the spare if it is the map that this one began as, and is removed else. On success fd is the
 * pair's; -EISDIR and others leave everything as it was.
 */
int perf_map_pair_publish(struct perf_map_pair *pair, int dirfd, int fd,
			  const struct perf_map_name *temp, const struct perf_map_name *name);

#endif
