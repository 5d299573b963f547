// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   two readings of the clocks -> by how much the wall clock was set in between
 * units:   seconds: since 1970 by the wall clock, since boot by a clock that nobody can set
 * threads: any, values
 * errors:  none
 * source:  clock_gettime(2) CLOCK_REALTIME, CLOCK_BOOTTIME; random(4) boot_id
 */
#ifndef FG_SERVE_GRAPH_CLOCK_H
#define FG_SERVE_GRAPH_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define GRAPH_CLOCK_BOOT_BYTES 40
#define GRAPH_CLOCK_JUMP_SEC   60 /* a smaller step is no jump */

struct graph_clock {
	char boot[GRAPH_CLOCK_BOOT_BYTES]; /* the boot's ID; "": not known */
	int64_t boot_sec, unix_sec;
};

void graph_clock_read(struct graph_clock *ret);
bool graph_clock_is_one_boot(const struct graph_clock *a, const struct graph_clock *b);
/* The jump of the wall clock from a reading to a later one; 0: none, or another boot. */
int64_t graph_clock_jump(const struct graph_clock *from, const struct graph_clock *to);

#endif
