// SPDX-License-Identifier: Apache-2.0
/* Keeps what is heard of at once from taking all the time, see rests.h. */
#include "app/rests.h"

#include "base/clock.h"

#define SIDE_LEAST_NS	(1 * CLOCK_NS_PER_MS)
#define LEAST_TURN_NS	(1 * CLOCK_NS_PER_MS)
#define SIDE_FACTOR	4
#define SAMPLE_LEAST_NS (CLOCK_NS_PER_MS / 10)
#define SAMPLE_FACTOR	4

static uint64_t between(uint64_t ns, uint64_t least_ns, uint64_t max_ns)
{
	if (ns < least_ns)
		return least_ns;
	return ns < max_ns ? ns : max_ns;
}

void rests_from_side(struct rests *rests, uint64_t now_ns, uint64_t took_ns, bool has_heard)
{
	const uint64_t rest_ns = took_ns * SIDE_FACTOR;

	if (!has_heard)
		return;
	rests->taken += rest_ns > SIDE_LEAST_NS;
	rests->side_until_ns = now_ns + between(rest_ns, SIDE_LEAST_NS, RESTS_SIDE_MAX_NS);
}

void rests_from_samples(struct rests *rests, uint64_t now_ns, uint64_t took_ns, bool has_heard)
{
	if (has_heard)
		rests->sample_until_ns = now_ns + between(took_ns * SAMPLE_FACTOR, SAMPLE_LEAST_NS,
							  RESTS_SAMPLE_MAX_NS);
}

uint64_t rests_interval_ns(uint64_t took_ns)
{
	return between(took_ns * SAMPLE_FACTOR, LEAST_TURN_NS, RESTS_SAMPLE_MAX_NS);
}
