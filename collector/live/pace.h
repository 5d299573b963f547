// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   how long a turn of the loop took -> how long the loop waits before the next one
 * units:   nanoseconds
 * threads: any
 * errors:  none
 * source:  none
 *
 * Rings are read by the clock, and what they hold decides how long a turn takes. A turn takes a fifth
 * of the time at most: the wait after it is four times as long as it took, within limits that whoever
 * waits knows.
 */
#ifndef FG_LIVE_PACE_H
#define FG_LIVE_PACE_H

#include <stdint.h>

uint64_t pace_wait_ns(uint64_t took_ns, uint64_t least_ns, uint64_t most_ns);

#endif
