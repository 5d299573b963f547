// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   paths -> profiles, and on stderr what could not be used of them
 * units:   as import.h
 * threads: one
 * errors:  negative errno, said on stderr
 * source:  none
 */
#ifndef FG_DRAW_DRAW_INPUT_H
#define FG_DRAW_DRAW_INPUT_H

#include "import/import.h"
#include "profile/profile.h"

#include <stdbool.h>

/* What was read. before has samples if there were two counts a stack. */
struct draw_input {
	struct profile profile;
	struct profile before;
	struct import_recording recording; /* what recordings have beside them */
	size_t n_read;
	bool has_periods;
	char event[IMPORT_EVENT_BYTES]; /* whose periods, or "" */
};

int draw_input_init(struct draw_input *input);
void draw_input_fini(struct draw_input *input);
/*
 * "-" is standard input. Of several recordings, threads and times are put together as far as they
 * can be, see draw_recordings.h. Of reversed stacks they are left out: they are those of one tree.
 */
int draw_input_read(struct draw_input *input, const char *path,
		    const struct import_options *options);
/* Leaves out times, threads and facts that are of one file's tree alone; says why. */
void draw_input_forget_recording(struct draw_input *input, const char *why);
/* Stacks from the leaf on. */
int draw_input_reverse(struct draw_input *input);

#endif
