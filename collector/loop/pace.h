// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   how long a turn of the loop took -> how long the loop waits before the next turn
 * units:   nanoseconds
 * threads: any
 * errors:  none
 * source:  none
 *
 * The loop reads the ring buffers by the clock, and their content decides how long a turn takes.
 * Turns take a fifth of the time at most: the wait is four times the length of the turn before it,
 * but between least_ns and most_ns.
 */
#ifndef FG_LOOP_PACE_H
#define FG_LOOP_PACE_H

#include <stdint.h>

uint64_t pace_wait_ns(uint64_t took_ns, uint64_t least_ns, uint64_t most_ns);

#endif
