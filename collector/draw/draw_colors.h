// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   palette.map <-> colours that names keep from drawing to drawing (--cp)
 * units:   none
 * threads: one
 * errors:  negative errno, said on stderr
 * source:  flamegraph.pl --cp
 */
#ifndef FG_DRAW_DRAW_COLORS_H
#define FG_DRAW_DRAW_COLORS_H

#include "render/name_colors.h"

/* palette.map is in the working directory. To read, it need not exist. */
int draw_colors_read(struct name_colors *colors);
int draw_colors_write(const struct name_colors *colors);

#endif
