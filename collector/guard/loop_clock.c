// SPDX-License-Identifier: Apache-2.0
/* The time that the loop has stood, summed up, see loop_clock.h. */
#include "guard/loop_clock.h"

#include "base/clock.h"

static uint64_t seen_ns; /* 0: no loop has begun */
static uint64_t stood_ns, longest_ns;

void loop_clock_begin(void)
{
	seen_ns = 0;
}

void loop_clock_pass(uint64_t now_ns, uint64_t wait_ns)
{
	const uint64_t took_ns = seen_ns && now_ns > seen_ns ? now_ns - seen_ns : 0;
	const uint64_t most_ns = wait_ns + LOOP_CLOCK_SLACK_NS;

	seen_ns = now_ns;
	if (took_ns <= most_ns)
		return;
	stood_ns += took_ns - most_ns;
	if (took_ns - most_ns > longest_ns)
		longest_ns = took_ns - most_ns;
}

/* Within a turn the clock stops where the next pass will find a stall: a clock never goes back. */
uint64_t loop_clock_at(uint64_t now_ns)
{
	const uint64_t most_ns = seen_ns + LOOP_CLOCK_SLACK_NS;

	return (seen_ns && now_ns > most_ns ? most_ns : now_ns) - stood_ns;
}

uint64_t loop_clock_now_ns(void)
{
	return loop_clock_at(clock_now_ns());
}

uint64_t loop_clock_stood_ns(uint64_t *ret_longest_ns)
{
	*ret_longest_ns = longest_ns;
	return stood_ns;
}
