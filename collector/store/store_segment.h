// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the samples of a process and a stretch of time -> a file in the store's directory of
 *          segments
 * units:   seconds since 1970 in names, bytes
 * threads: one at a time
 * errors:  negative errno, and then no file is left
 * source:  rename(2), fsync(2)
 *
 * A segment is an ordinary recording: render and diff read it. Its name is
 * "20261126T031200Z-4711-123456.fgrec": the start of its samples, the PID, the time at which the
 * process began, in clock ticks since boot. A second one of that name is "-123456.2.fgrec". The
 * file has its bytes on the disk before it has its name; the directory has to be written to the
 * disk by store_segment_settle.
 */
#ifndef FG_STORE_STORE_SEGMENT_H
#define FG_STORE_STORE_SEGMENT_H

#include "profile/profile_part.h"

#include <stdbool.h>
#include <sys/types.h>

#define STORE_SEGMENT_NAME_BYTES 80u

struct store_segment {
	pid_t pid;
	uint64_t ticks;
	uint64_t start_ns;		  /* since 1970 */
	const char *title;		  /* of the process; NULL: none */
	const struct profile_part *parts; /* timelines are sorted */
	size_t n_parts;
	bool packs_as_xz; /* for what is kept for long */
};

/* Writes a segment. ret_name is its file. */
int store_segment_write(int dir_fd, const struct store_segment *segment,
			char ret_name[STORE_SEGMENT_NAME_BYTES], uint64_t *ret_bytes);
int store_segment_settle(int dir_fd);

/* Whether the text has the form of a segment's name: it names nothing outside of the directory. */
bool store_segment_is_name(const char *text);
/* Removes a segment's file. What has no segment's name stays: an index may name anything. */
void store_segment_remove(int dir_fd, const char *name);
/* Whether the text is the name of a file that was being written. */
bool store_segment_is_part(const char *text);

#endif
