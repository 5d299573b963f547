// SPDX-License-Identifier: Apache-2.0
/* Measures turns, see turns.h. */
#include "loop/turns.h"

#include "base/clock.h"

static const struct {
	uint64_t ms;
	const char *text;
} buckets[TURN_BUCKETS] = {
	{1, "0.001"}, {2, "0.002"},  {5, "0.005"}, {10, "0.01"}, {20, "0.02"}, {50, "0.05"},
	{100, "0.1"}, {250, "0.25"}, {1000, "1"},  {5000, "5"},	 {0, "+Inf"},
};

static const char *const stages[TURN_STAGES] = {
	[TURN_AGENTS] = "agents", [TURN_RINGS] = "rings",     [TURN_NAMING] = "naming",
	[TURN_UPKEEP] = "upkeep", [TURN_CONTROL] = "control", [TURN_CALLER] = "caller",
};

uint64_t turn_bucket_ns(size_t bucket)
{
	return bucket < TURN_BUCKETS - 1 ? buckets[bucket].ms * CLOCK_NS_PER_MS : UINT64_MAX;
}

static const char *bucket_text(size_t bucket)
{
	return buckets[bucket].text;
}

static void keep_longest(uint64_t *longest, uint64_t took_ns)
{
	if (took_ns > *longest)
		*longest = took_ns;
}

void turns_begin(struct turns *turns)
{
	turns->began_ns = turns->stage_ns = clock_now_ns();
	turns->began_cpu_ns = clock_thread_ns();
}

void turns_pass(struct turns *turns, enum turn_stage stage)
{
	const uint64_t now_ns = clock_now_ns();

	keep_longest(&turns->longest_stage_ns[stage], now_ns - turns->stage_ns);
	turns->stage_ns = now_ns;
}

void turns_end(struct turns *turns)
{
	uint64_t took_ns;

	if (!turns->began_ns)
		return;
	turns_pass(turns, TURN_CALLER);
	took_ns = turns->stage_ns - turns->began_ns;
	turns->count++;
	turns->sum_ns += took_ns;
	keep_longest(&turns->longest_ns, took_ns);
	keep_longest(&turns->longest_cpu_ns, clock_thread_ns() - turns->began_cpu_ns);
	for (size_t i = 0; i < TURN_BUCKETS; i++)
		turns->within[i] += took_ns <= turn_bucket_ns(i);
}

static const char *stage_name(size_t stage)
{
	return stages[stage];
}

static const struct counter counters[] = {
	COUNTER_HISTOGRAM(
		struct turns, within, "turns.within", "turn_seconds_bucket",
		"Turns of the loop; while one lasts, no ring buffer is read and no agent is heard.",
		COUNTER_EACH(struct turns, within, "le", bucket_text)),
	COUNTER_HISTOGRAM(struct turns, sum_ns, "turns.sum_us", "turn_seconds_sum", NULL,
			  .unit = COUNTER_NS_IN_US),
	COUNTER_HISTOGRAM(struct turns, count, "turns.count", "turn_seconds_count", NULL),
	COUNTER_GAUGE(struct turns, longest_ns, "turns.longest_us", "turn_longest_seconds",
		      "The longest turn.", .unit = COUNTER_NS_IN_US),
	COUNTER_GAUGE(struct turns, longest_cpu_ns, "turns.longest_cpu_us",
		      "turn_longest_cpu_seconds", "Processor time of the turn that took the most.",
		      .unit = COUNTER_NS_IN_US),
	COUNTER_GAUGE(struct turns, longest_stage_ns, "turns.longest_stage_us",
		      "turn_stage_longest_seconds", "The longest time of a stage of a turn.",
		      .unit = COUNTER_NS_IN_US,
		      COUNTER_EACH(struct turns, longest_stage_ns, "stage", stage_name)),
};

const struct counters turns_counters = COUNTERS(struct turns, counters);
