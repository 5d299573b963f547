// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an option of another tool that render and diff do not have -> what to do instead
 * units:   none
 * threads: any
 * errors:  NULL
 * source:  the options of flamegraph.pl, stackcollapse-perf.pl and inferno
 */
#ifndef FG_DRAW_DRAW_MISSING_H
#define FG_DRAW_DRAW_MISSING_H

/* A sentence about a long option without its dashes, or NULL if nothing is known of it. */
const char *draw_missing_find(const char *option);

#endif
