// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the one clock of the collector
 * units:   nanoseconds of CLOCK_MONOTONIC
 * threads: any
 * errors:  none
 * source:  clock_gettime(2)
 */
#ifndef FG_BASE_CLOCK_H
#define FG_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_SEC UINT64_C(1000000000)
#define CLOCK_NS_PER_MS	 UINT64_C(1000000)
#define CLOCK_NS_PER_US	 UINT64_C(1000)

/* A clock of clock_gettime(2), as the kernel says it. */
uint64_t clock_read_ns(clockid_t clock);
uint64_t clock_now_ns(void);
/*
 * Sets the time that clock_now_ns returns in this thread from now on: for a replay of what happened
 * at another time, and for what is to be replayed. 0: the time that the kernel says.
 */
void clock_pretend(uint64_t now_ns);
/* Processor time of this thread. */
uint64_t clock_thread_ns(void);
/* The wall clock, nanoseconds since 1970; for display only. */
uint64_t clock_unix_now_ns(void);

#endif
