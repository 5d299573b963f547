// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an option of another tool that render and diff lack -> what to use instead
 * units:   none
 * threads: any
 * errors:  NULL: nothing is known of the option
 * source:  the options of flamegraph.pl, stackcollapse-perf.pl and inferno
 */
#ifndef FG_DRAW_DRAW_MISSING_H
#define FG_DRAW_DRAW_MISSING_H

/* A sentence about a long option, which is given without its dashes, or NULL. */
const char *draw_missing_find(const char *option);

#endif
