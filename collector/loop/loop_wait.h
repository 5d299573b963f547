// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   descriptors of the loop and of its recordings -> why the loop goes on
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  none
 * source:  ppoll(2), epoll(7)
 *
 * A program that begins has to be looked at soon, because it may be a JVM, and may end. The kernel
 * wakes the loop for that where sampler_side_fd can be had. So a host on which nothing begins does
 * not wake the loop. Programs that begin one after the other wake the loop once in
 * SIDE_INTERVAL_NS. Where there is no such descriptor, the wait looks each SIDE_INTERVAL_NS at the
 * side rings.
 */
#ifndef FG_LOOP_LOOP_WAIT_H
#define FG_LOOP_LOOP_WAIT_H

#include "recording/recording.h"

#include <stdbool.h>
#include <stdint.h>

#define LOOP_WAIT_FDS 24

/* What is waited for beside recordings. */
struct loop_fds {
	int fds[LOOP_WAIT_FDS]; /* -1: nothing */
	size_t n;
	bool ready[LOOP_WAIT_FDS]; /* what can be read, once the wait has ended */
};

/* A zero-filled struct is valid. */
struct loop_wait {
	uint64_t side_ns; /* a program that begins wakes the loop from then on */
};

/*
 * Waits until there is something to do, at most for_ns. recordings: the first of a list, or NULL.
 * took_ns: how long the last turn took (pace.h).
 */
void loop_wait(struct loop_wait *wait, struct loop_fds *fds, struct recording *recordings,
	       uint64_t took_ns, uint64_t for_ns);

#endif
