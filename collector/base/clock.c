// SPDX-License-Identifier: Apache-2.0
/* The one clock of the collector, see clock.h. */
#include "base/clock.h"

static _Thread_local uint64_t pretended_ns;

void clock_pretend(uint64_t now_ns)
{
	pretended_ns = now_ns;
}

uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * CLOCK_NS_PER_SEC + (uint64_t)now.tv_nsec;
}

uint64_t clock_now_ns(void)
{
	return pretended_ns ? pretended_ns : clock_read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_unix_now_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

uint64_t clock_thread_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}
