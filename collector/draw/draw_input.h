// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   paths -> profiles; on stderr, what could not be used of the files
 * units:   those of import.h
 * threads: one
 * errors:  negative errno, said on stderr
 * source:  none
 */
#ifndef FG_DRAW_DRAW_INPUT_H
#define FG_DRAW_DRAW_INPUT_H

#include "import/import.h"
#include "profile/profile.h"
#include "profile/profile_part.h"

#include <stdbool.h>

/*
 * The files' content of one kind of samples; next has the next kind, and so on. before has the
 * samples of lines with two counts, and of negative values in pprof.
 */
struct draw_input {
	struct profile_kind kind; /* name NULL: nothing has been read */
	char kind_texts[2][PROFILE_KIND_BYTES];
	struct draw_input *next; /* NULL: no other kind */
	/* another kind came first in a file; subtitle and notes of the file are of that one */
	bool is_later;
	const char *wanted; /* the only kind that is read, or NULL: all */
	struct profile profile;
	struct profile before;
	struct import_recording recording; /* times, threads and facts of recordings */
	const char *target; /* of a store: what was asked for, of profile.names; or NULL */
	size_t n_read;
	bool has_periods;
	char first_event[IMPORT_EVENT_BYTES]; /* of perf script; that of later files too, or "" */
	char event[IMPORT_EVENT_BYTES];	      /* the event whose periods are the weights, or "" */
};

int draw_input_init(struct draw_input *input);
void draw_input_fini(struct draw_input *input);
/* The kinds that were read, as parts; returns their number. */
size_t draw_input_parts(const struct draw_input *input, struct profile_part ret[PROFILE_MAX_KINDS]);
/*
 * Reads a file; "-" is standard input. Kinds of several files are joined by name. Threads and times
 * of several recordings are joined as far as possible, see draw_recordings.h. -ENODATA: there are
 * no stacks in the file, or none of the wanted kind.
 */
int draw_input_read(struct draw_input *input, const char *path,
		    const struct import_options *options);
/*
 * Takes what was summed up of a kind elsewhere: moves profile and timeline, which are empty then,
 * and copies info, whose texts belong to the profile. The input has no profile of that kind yet.
 */
int draw_input_take(struct draw_input *input, const struct profile_kind *kind,
		    struct profile *profile, struct timeline *timeline,
		    const struct profile_info *info);
/* Drops times, threads and facts, which belong to one tree; says why on stderr. */
void draw_input_forget_recording(struct draw_input *input, const char *why);
/* Turns all stacks over, so that they begin with the leaf. Drops times and threads. */
int draw_input_reverse(struct draw_input *input);

#endif
