// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a segment's file -> the profile, the times and the facts of each kind in the file
 * units:   those of profile.h and timeline.h
 * threads: one at a time
 * errors:  negative errno; -EINVAL: the file is no segment: no file, or no whole recording. All
 *          others say nothing of the file
 * source:  profile/recording_format.h
 */
#ifndef FG_STORE_STORE_CONTENT_H
#define FG_STORE_STORE_CONTENT_H

#include "import/import.h"
#include "profile/profile_part.h"

/* Larger files are no segments. */
#define STORE_MAX_SEGMENT_BYTES (64 << 20)
#define STORE_MAX_SEGMENT_NODES 1000000u

struct store_content_kind {
	struct profile_kind kind;
	char texts[2][PROFILE_KIND_BYTES]; /* of kind */
	struct profile profile;
	struct import_recording recording;
};

/* A zero-filled struct is valid and empty. */
struct store_content {
	struct import_target target; /* the first member */
	struct profile texts;	     /* owns the texts of all kinds */
	const char *wanted;	     /* the only kind that is read; NULL: all */
	struct store_content_kind *kinds[PROFILE_MAX_KINDS];
	size_t n;
};

/*
 * Reads the file name below dir_fd. wanted is borrowed; NULL: all kinds are read. The content is to
 * be ended after an error too.
 */
int store_content_read(struct store_content *content, int dir_fd, const char *name,
		       const char *wanted);
void store_content_fini(struct store_content *content);

struct store_time {
	uint64_t at_ns;	  /* since 1970 */
	uint64_t step_ns; /* of the file's times */
	uint64_t weight;
};

typedef void store_add_time(void *arg, const struct store_time *time);

/*
 * Gives each time of the kind to add, and makes no tree. Times of a file that turns out to be
 * damaged have been given by then. *ret_untimed: the weight of samples of which no time is known.
 */
int store_content_read_times(int dir_fd, const char *name, const char *kind, store_add_time *add,
			     void *arg, uint64_t *ret_untimed);

/* The n-th kind as a part; borrowed. */
struct profile_part store_content_part(const struct store_content *content, size_t n);

#endif
