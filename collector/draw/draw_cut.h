// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   stacks -> the same stacks without the callers of a frame
 * units:   none
 * threads: one
 * errors:  negative errno, said on stderr; -ENODATA: no samples are left
 * source:  inferno-flamegraph --base, inferno-collapse-perf --skip-after
 */
#ifndef FG_DRAW_DRAW_CUT_H
#define FG_DRAW_DRAW_CUT_H

#include "draw/draw_input.h"

#include <stdbool.h>

/*
 * Cuts stacks so that they begin at their outermost frame that has one of the names, which NULL
 * ends; there is at least one. Stacks without such a frame are kept if keeps_others; else they are
 * left out, and their number of samples is said on stderr. Times and threads are left out.
 */
int draw_cut(struct draw_input *input, const char *const *names, bool keeps_others);

#endif
