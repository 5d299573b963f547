// SPDX-License-Identifier: Apache-2.0
/* The one clock of the collector, see clock.h. */
#include "base/clock.h"

#include <time.h>

static _Thread_local uint64_t pretended_ns;

void clock_pretend(uint64_t now_ns)
{
	pretended_ns = now_ns;
}

uint64_t clock_now_ns(void)
{
	struct timespec now;

	if (pretended_ns)
		return pretended_ns;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * CLOCK_NS_PER_SEC + (uint64_t)now.tv_nsec;
}

uint64_t clock_unix_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * CLOCK_NS_PER_SEC + (uint64_t)now.tv_nsec;
}

uint64_t clock_thread_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) < 0)
		return 0;
	return (uint64_t)now.tv_sec * CLOCK_NS_PER_SEC + (uint64_t)now.tv_nsec;
}
