// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   profiles -> files and standard output
 * units:   none
 * threads: one
 * errors:  negative errno, said on stderr
 * source:  none
 */
#ifndef FG_DRAW_DRAW_OUTPUT_H
#define FG_DRAW_DRAW_OUTPUT_H

#include "draw/draw_join.h"
#include "draw/draw_options.h"
#include "draw/draw_side.h"

/* Checks that all outputs can be written, before long files are read. */
int draw_output_check(const struct draw_options *options);

/*
 * Writes a diff of before and after; or, if before is NULL, after alone with the timeline of
 * options->render. Titles that are not given are made. join: of the profiles of both sides; NULL if
 * before is.
 */
int draw_output_write(const struct draw_options *options, const struct draw_side *before,
		      const struct draw_side *after, struct draw_join *join);

#endif
