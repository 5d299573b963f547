// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a difference -> the methods that have changed most, as text or JSON
 * units:   per cent of each side's samples; standard deviations
 * threads: one
 * errors:  negative errno, said on stderr
 * source:  none
 */
#ifndef FG_DRAW_DIFF_TABLE_H
#define FG_DRAW_DIFF_TABLE_H

#include "draw/draw_options.h"
#include "profile/diff.h"

int diff_table_print(const struct draw_options *options, const struct profile_diff *diff,
		     FILE *stream);

#endif
