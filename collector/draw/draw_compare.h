// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   two sides that were read -> the outputs that diff's options ask for, and a table
 * units:   those of draw_input.h
 * threads: one
 * errors:  negative errno, said on stderr; -EINVAL: the sides have no kind in common
 * source:  none
 */
#ifndef FG_DRAW_DRAW_COMPARE_H
#define FG_DRAW_DRAW_COMPARE_H

#include "draw/draw_input.h"
#include "draw/draw_options.h"

/* The table goes to standard output, unless a drawing goes there. */
int draw_compare(struct draw_options *options, const struct draw_input *before,
		 const struct draw_input *after);

#endif
