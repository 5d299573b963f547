// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what was read -> the outputs that render's options ask for
 * units:   those of draw_input.h
 * threads: one
 * errors:  negative errno, said on stderr
 * source:  none
 */
#ifndef FG_DRAW_DRAW_RENDER_H
#define FG_DRAW_DRAW_RENDER_H

#include "draw/draw_input.h"
#include "draw/draw_options.h"

/* The options are not to be used again: they point to what has ended. */
int draw_render(struct draw_options *options, const struct draw_input *input);

#endif
