// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what was read -> files and standard output
 * units:   none
 * threads: one
 * errors:  negative errno, said on stderr
 * source:  none
 */
#ifndef FG_DRAW_DRAW_OUTPUT_H
#define FG_DRAW_DRAW_OUTPUT_H

#include "draw/draw_options.h"

/* Whether all can be written, before long files are read. */
int draw_output_check(const struct draw_options *options);

struct draw_side {
	const struct profile *profile;
	const struct timeline *timeline; /* of it; NULL: none */
};

/*
 * before may be NULL: then after is drawn alone, with the timeline of options->render. Titles are
 * made where none are given.
 */
int draw_output_write(const struct draw_options *options, const struct draw_side *before,
		      const struct draw_side *after);

#endif
