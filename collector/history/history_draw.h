// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a query -> an input of render and diff, as if a recording had been read
 * units:   those of draw_input.h
 * threads: one
 * errors:  negative errno, said on stderr
 * source:  none
 */
#ifndef FG_HISTORY_HISTORY_DRAW_H
#define FG_HISTORY_HISTORY_DRAW_H

#include "draw/draw_input.h"
#include "store/store_select.h"

/* Fills the input, which is fresh. */
int history_draw(const char *dir, const struct store_query *query, struct draw_input *input);

#endif
