// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   two readings of the clocks -> by how much the wall clock was set in between
 * units:   seconds: since 1970 by the wall clock, since boot by a clock that nobody can set
 * threads: any, values
 * errors:  none
 * source:  clock_gettime(2) CLOCK_REALTIME, CLOCK_BOOTTIME; random(4) boot_id
 */
#ifndef FG_PROFILE_WALL_CLOCK_H
#define FG_PROFILE_WALL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define WALL_CLOCK_BOOT_BYTES 40
#define WALL_CLOCK_JUMP_SEC   60 /* a smaller step is no jump */

struct wall_clock {
	char boot[WALL_CLOCK_BOOT_BYTES]; /* the boot's ID; "": not known */
	int64_t boot_sec, unix_sec;
};

void wall_clock_read(struct wall_clock *ret);
bool wall_clock_is_one_boot(const struct wall_clock *a, const struct wall_clock *b);
/* The jump of the wall clock from a reading to a later one; 0: none, or another boot. */
int64_t wall_clock_jump(const struct wall_clock *from, const struct wall_clock *to);

#endif
