// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   stacks -> those stacks without what called a frame
 * units:   none
 * threads: one
 * errors:  negative errno, said on stderr
 * source:  inferno-flamegraph --base and inferno-collapse-perf --skip-after
 */
#ifndef FG_DRAW_DRAW_CUT_H
#define FG_DRAW_DRAW_CUT_H

#include "draw/draw_input.h"

#include <stdbool.h>

/*
 * Stacks that have a frame called name begin at the outermost one. Others are kept as they are, or
 * left out, of which it is said how many samples they were. Times and threads are left out.
 */
int draw_cut(struct draw_input *input, const char *name, bool keeps_others);

#endif
