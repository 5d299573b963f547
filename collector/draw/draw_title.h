// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the two sides of a difference -> a title that names both
 * units:   none
 * threads: any
 * errors:  "": nothing is known of a side
 * source:  profile/profile_title.h
 *
 * "shop, cpu, 15 s, 23:48 UTC, web1", an arrow, and the same of the other side. A side that is no
 * recording is called as its file is. Sides that are called the same have the paths of their files
 * behind that.
 */
#ifndef FG_DRAW_DRAW_TITLE_H
#define FG_DRAW_DRAW_TITLE_H

#include "draw/draw_input.h"
#include "profile/profile_title.h"

#include <limits.h>

#define DRAW_TITLE_BYTES (2 * PROFILE_TITLE_BYTES + 2 * PATH_MAX)

/* files: the paths of both sides, or NULL: they are of a store. */
void draw_title_of_sides(const struct draw_input *before, const struct draw_input *after,
			 char *const *files, char ret[DRAW_TITLE_BYTES]);

#endif
