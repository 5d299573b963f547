// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   any thread -> the agent's thread, which sleeps
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: wake_post on any; wake_sleep and wake_forget on the agent's own
 * errors:  none; a futex that the kernel refuses makes the sleep short
 * source:  futex(2)
 *
 * A zero-filled struct is a wake without a wake-up. No descriptor is needed: what a program may
 * close cannot be what wakes the agent, and a program that has few of them keeps them all. So a
 * socket is looked at when the thread wakes, and the thread wakes now and then for that.
 */
#ifndef FGAGENT_WAKE_H
#define FGAGENT_WAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct wake {
	_Atomic uint32_t posted;   /* a futex: 1 from wake_post to wake_forget */
	_Atomic uint32_t sleepers; /* 1 while the agent's thread sleeps */
};

/* Never waits. Makes a system call only if the agent's thread sleeps. */
void wake_post(struct wake *wake);
/* Sleeps until wake_post was called since wake_forget, or until then_ns. True: it was called. */
bool wake_sleep(struct wake *wake, uint64_t then_ns);
/* Forgets all wake-ups so far. To be called before the look at what they tell of. */
void wake_forget(struct wake *wake);

#endif
