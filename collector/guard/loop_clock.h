// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the times at which a loop has looked at the clock -> a clock of the time that it ran
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the loop's
 * errors:  none
 * source:  signal(7) SIGSTOP
 *
 * While the loop stands, because this program is stopped or a turn takes long, nobody can be heard,
 * and what somebody sends in time is read late. So deadlines that others have are kept by this
 * clock: it passes over what is longer than LOOP_CLOCK_SLACK_NS beyond the time that the loop meant
 * to wait. It never goes back, and stands still in the rest of a turn that takes longer. Without a
 * loop that tells of its steps, as in tests of one stage, it is CLOCK_MONOTONIC.
 */
#ifndef FG_GUARD_LOOP_CLOCK_H
#define FG_GUARD_LOOP_CLOCK_H

#include <stdint.h>

#define LOOP_CLOCK_SLACK_NS UINT64_C(200000000)

/* The loop runs at now_ns. Since the call before, it has meant to wait for wait_ns. */
void loop_clock_pass(uint64_t now_ns, uint64_t wait_ns);
/* A loop begins or has ended: the time before the next call does not count as a stall. */
void loop_clock_begin(void);
/* The time of the clock at now_ns. */
uint64_t loop_clock_at(uint64_t now_ns);
uint64_t loop_clock_now_ns(void);
/* How long the loop has stood in all, and the longest time. */
uint64_t loop_clock_stood_ns(uint64_t *ret_longest_ns);

#endif
