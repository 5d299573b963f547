// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   clocks as integers
 * units:   nanoseconds
 * threads: any
 * errors:  none; the clocks always exist on Linux
 * source:  clock_gettime(2)
 */
#ifndef FGAGENT_CLOCK_H
#define FGAGENT_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_MS 1000000ull
#define CLOCK_NS_PER_S	1000000000ull

static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec now = {0};

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* The clock of every time that the agent sends. */
static inline uint64_t clock_monotonic_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* For poll(2): whole milliseconds until then, rounded up, 0 if that has passed. */
static inline int clock_ms_until(uint64_t then_ns)
{
	const uint64_t now_ns = clock_monotonic_ns();
	const uint64_t max_ms = 60000;
	uint64_t ms;

	if (then_ns <= now_ns)
		return 0;
	ms = (then_ns - now_ns + CLOCK_NS_PER_MS - 1) / CLOCK_NS_PER_MS;
	return (int)(ms < max_ms ? ms : max_ms);
}

/* For ppoll(2): 0 if then has passed. */
static inline struct timespec clock_time_until(uint64_t then_ns)
{
	const uint64_t now_ns = clock_monotonic_ns();
	const uint64_t ns = then_ns > now_ns ? then_ns - now_ns : 0;

	return (struct timespec){.tv_sec = (time_t)(ns / CLOCK_NS_PER_S),
				 .tv_nsec = (long)(ns % CLOCK_NS_PER_S)};
}

#endif
