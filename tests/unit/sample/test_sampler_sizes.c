// SPDX-License-Identifier: Apache-2.0
/* How large rings and snapshots are, for machines from one CPU to very many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sample/sample_regs.h"
#include "sample/sampler.h"

#define KIB	     1024u
#define MAX_RINGS    (64u << 20)
#define MAX_CPUS     1024u
#define INTERVAL     10 /* samples of a CPU in 100 ms at 99 Hz */
#define REST	     (8 + 40 + 8 + 135 * 8 + 8 + SAMPLE_REGS_COUNT * 8 + 16) /* of a record */
#define RECORD_BYTES UINT16_MAX

static const uint32_t stacks[] = {SAMPLER_LEAST_STACK_BYTES, 8 * KIB, SAMPLER_DEFAULT_STACK_BYTES,
				  SAMPLER_MAX_STACK_BYTES};

#define N_STACKS (sizeof(stacks) / sizeof(stacks[0]))

static void rings_have_these_sizes(void **state)
{
	static const struct {
		size_t n_cpus;
		uint32_t stack_bytes;
		size_t ring_bytes;
		uint32_t fits;
	} cases[] = {
		{1, 0, 512 * KIB, 0},
		{128, 0, 512 * KIB, 0},
		{129, 0, 256 * KIB, 0},
		{1024, 0, 64 * KIB, 0},
		{1, 1 * KIB, 512 * KIB, 1 * KIB},
		{1, 8 * KIB, 2048 * KIB, 8 * KIB},
		{1, 16 * KIB, 4096 * KIB, 16 * KIB},
		{1, 32 * KIB, 8192 * KIB, 32 * KIB},
		{1, 48 * KIB, 8192 * KIB, 48 * KIB},
		{2, 48 * KIB, 8192 * KIB, 48 * KIB},
		{8, 48 * KIB, 8192 * KIB, 48 * KIB},
		{9, 48 * KIB, 4096 * KIB, 48 * KIB},
		{32, 48 * KIB, 2048 * KIB, 48 * KIB},
		{33, 48 * KIB, 1024 * KIB, 24 * KIB},
		{64, 48 * KIB, 1024 * KIB, 24 * KIB},
		{128, 48 * KIB, 512 * KIB, 11 * KIB},
		{256, 48 * KIB, 256 * KIB, 5 * KIB},
		{256, 4 * KIB, 256 * KIB, 4 * KIB},
		{1024, 48 * KIB, 64 * KIB, 1 * KIB},
		{4096, 48 * KIB, 64 * KIB, 1 * KIB},
		{1, 64000, 16384 * KIB, 64000},
		{4, 64000, 16384 * KIB, 64000},
		{5, 64000, 8192 * KIB, 64000},
		{16, 64000, 4096 * KIB, 64000},
		{17, 64000, 2048 * KIB, 49 * KIB},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const size_t ring = sampler_ring_bytes(cases[i].n_cpus, cases[i].stack_bytes, 99);

		assert_int_equal(ring, cases[i].ring_bytes);
		assert_int_equal(sampler_fit_stack(ring, cases[i].stack_bytes), cases[i].fits);
	}
}

static void higher_rates_have_larger_rings_and_snapshots_as_long(void **state)
{
	static const struct {
		size_t n_cpus;
		unsigned hz;
		size_t ring_bytes;
	} cases[] = {
		{1, 1, 2048 * KIB},	      {2, 19, 2048 * KIB},	{2, 100, 8192 * KIB},
		{2, 199, 16384 * KIB},	      {2, 999, 32768 * KIB},	{4, 999, 16384 * KIB},
		{8, 999, 8192 * KIB},	      {2, 100000, 32768 * KIB}, {32, 100000, 2048 * KIB},
		{1, UINT32_MAX, 65536 * KIB},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const size_t ring = sampler_ring_bytes(cases[i].n_cpus, SAMPLER_DEFAULT_STACK_BYTES,
						       cases[i].hz);

		assert_int_equal(ring, cases[i].ring_bytes);
		assert_int_equal(sampler_fit_stack(ring, SAMPLER_DEFAULT_STACK_BYTES),
				 SAMPLER_DEFAULT_STACK_BYTES);
	}
}

/* So long may a host have no turn for the collector. */
static void rings_have_room_for_one_and_a_half_seconds_on_up_to_8_cpus(void **state)
{
	static const unsigned rates[] = {19, 49, 99};

	for (size_t n = 1; n <= 8; n++) {
		for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
			const size_t ring =
				sampler_ring_bytes(n, SAMPLER_DEFAULT_STACK_BYTES, rates[i]);

			assert_true(3 * rates[i] / 2 *
					    (REST + (size_t)SAMPLER_DEFAULT_STACK_BYTES) <
				    ring);
		}
	}
}

static void all_rings_together_stay_within_their_limit(void **state)
{
	for (size_t s = 0; s < N_STACKS; s++) {
		for (size_t n = 1; n <= MAX_CPUS; n++) {
			const size_t ring = sampler_ring_bytes(n, stacks[s], 99);

			assert_true(ring * n <= MAX_RINGS);
			assert_int_equal(ring & (ring - 1), 0);
			assert_true(ring >= 64 * KIB);
		}
	}
}

static void rings_have_room_for_four_intervals_on_up_to_512_cpus(void **state)
{
	for (size_t s = 0; s < N_STACKS; s++) {
		for (size_t n = 1; n <= 512; n++) {
			const size_t ring = sampler_ring_bytes(n, stacks[s], 99);
			const uint32_t stack = sampler_fit_stack(ring, stacks[s]);

			assert_true(stack <= stacks[s] && stack >= SAMPLER_LEAST_STACK_BYTES);
			assert_int_equal(stack % 8, 0);
			assert_true(4 * INTERVAL * (REST + (size_t)stack) < ring);
		}
	}
}

static void beyond_512_cpus_two_intervals_remain(void **state)
{
	for (size_t n = 513; n <= 8192; n++) {
		const size_t ring = sampler_ring_bytes(n, SAMPLER_DEFAULT_STACK_BYTES, 99);
		const uint32_t stack = sampler_fit_stack(ring, SAMPLER_DEFAULT_STACK_BYTES);

		assert_true(2 * INTERVAL * (REST + (size_t)stack) < ring);
	}
}

/* Read so often, they have three times as much room as they need. */
static void rings_are_read_before_they_are_a_quarter_full(void **state)
{
	static const unsigned rates[] = {1, 19, 99, 999, 20000};

	for (size_t n = 1; n <= 512; n++) {
		for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
			const size_t ring =
				sampler_ring_bytes(n, SAMPLER_DEFAULT_STACK_BYTES, rates[i]);
			const uint32_t stack = sampler_fit_stack(ring, SAMPLER_DEFAULT_STACK_BYTES);
			const uint64_t ns = sampler_quarter_ns(ring, stack, rates[i]);
			const uint64_t samples = ns * rates[i] / 1000000000;

			assert_true(4 * samples * (REST + (uint64_t)stack) <= ring);
			assert_true(4 * (samples + 2) * (REST + (uint64_t)stack) > ring);
		}
	}
	assert_true(sampler_quarter_ns(sampler_least_ring_bytes(0), SAMPLER_MAX_STACK_BYTES, 99) ==
		    1000000000 / 99);
}

static void smallest_ring_has_room_for_two_of_the_largest_records(void **state)
{
	for (uint32_t stack = 0; stack <= SAMPLER_MAX_STACK_BYTES; stack += 8) {
		const size_t ring = sampler_least_ring_bytes(stack);

		assert_true(2 * (REST + (size_t)stack) < ring);
		assert_int_equal(ring & (ring - 1), 0);
		assert_true(ring <= 128 * KIB);
	}
}

static void longest_snapshot_leaves_room_for_the_rest_of_the_record(void **state)
{
	assert_true(SAMPLER_MAX_STACK_BYTES + REST < RECORD_BYTES);
	assert_int_equal(SAMPLER_MAX_STACK_BYTES % 8, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_have_these_sizes),
		cmocka_unit_test(higher_rates_have_larger_rings_and_snapshots_as_long),
		cmocka_unit_test(rings_have_room_for_one_and_a_half_seconds_on_up_to_8_cpus),
		cmocka_unit_test(all_rings_together_stay_within_their_limit),
		cmocka_unit_test(rings_have_room_for_four_intervals_on_up_to_512_cpus),
		cmocka_unit_test(beyond_512_cpus_two_intervals_remain),
		cmocka_unit_test(rings_are_read_before_they_are_a_quarter_full),
		cmocka_unit_test(smallest_ring_has_room_for_two_of_the_largest_records),
		cmocka_unit_test(longest_snapshot_leaves_room_for_the_rest_of_the_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
