// SPDX-License-Identifier: Apache-2.0
/* Samples before a pause stand for the pause, and for no more. */
#include "probes/probe_pauses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static struct probe_pauses pauses;

static int set_up(void **state)
{
	memset(&pauses, 0, sizeof(pauses));
	return 0;
}

static void add(pid_t pid, uint64_t from_ms, uint64_t to_ms, uint64_t pause_ms)
{
	const struct probe_pause pause = {.pid = pid,
					  .from_ns = from_ms * MS,
					  .to_ns = to_ms * MS,
					  .pause_ns = pause_ms * MS};

	probe_pauses_add(&pauses, &pause);
}

static uint64_t weight(enum sample_of kind, pid_t pid, uint64_t at_ms, uint64_t end_ms)
{
	const struct record record = {.kind = RECORD_SAMPLE,
				      .time_ns = at_ms * MS,
				      .pid = pid,
				      .sample = {.kind = (uint8_t)kind, .weight = 10}};

	return probe_pauses_weight(&pauses, &record, end_ms * MS);
}

static bool spans(pid_t pid, uint64_t from_ms, uint64_t to_ms)
{
	const struct record record = {
		.time_ns = to_ms * MS,
		.pid = pid,
		.sample = {.kind = SAMPLE_OF_PARK, .probe.amount = (to_ms - from_ms) * MS}};

	return probe_pauses_are_spanned(&pauses, &record);
}

static void a_pause_is_as_long_as_there_were_hits(void **state)
{
	assert_int_equal(probe_pauses_length(100 * MS, 0), 0);
	assert_int_equal(probe_pauses_length(100 * MS, 2000), 0);
	assert_int_equal(probe_pauses_length(100 * MS, 4000), 100 * MS);
	assert_int_equal(probe_pauses_length(100 * MS, 50000000), PROBE_PAUSES_MAX_NS);
}

static void samples_before_a_pause_stand_for_it(void **state)
{
	add(5, 1000, 1100, 900);
	assert_int_equal(weight(SAMPLE_OF_EXCEPTION, 5, 1050, 9000), 100);
	assert_int_equal(weight(SAMPLE_OF_PARK, 5, 1000, 9000), 100);
	assert_int_equal(weight(SAMPLE_OF_EXCEPTION, 5, 999, 9000), 10);
	assert_int_equal(weight(SAMPLE_OF_EXCEPTION, 5, 1100, 9000), 10);
	assert_int_equal(weight(SAMPLE_OF_EXCEPTION, 6, 1050, 9000), 10);
	assert_int_equal(weight(SAMPLE_OF_ALLOC, 5, 1050, 9000), 10);
}

static void no_pause_goes_on_past_the_end(void **state)
{
	add(5, 1000, 1100, 900);
	assert_int_equal(weight(SAMPLE_OF_EXCEPTION, 5, 1050, 1200), 20);
	assert_int_equal(weight(SAMPLE_OF_EXCEPTION, 5, 1050, 1100), 10);
	assert_int_equal(weight(SAMPLE_OF_EXCEPTION, 5, 1050, 1060), 10);
}

static void a_park_across_a_pause_is_told_from_others(void **state)
{
	add(5, 1000, 1100, 900);
	assert_true(spans(5, 1050, 2001));
	assert_false(spans(5, 1050, 1090));
	assert_false(spans(5, 1100, 2001)); /* it began behind: nobody saw that */
	assert_false(spans(6, 1050, 2001));
	assert_false(spans(5, 2001, 2500));
}

static void the_latest_pauses_are_kept(void **state)
{
	for (uint64_t i = 0; i < PROBE_PAUSES_KEPT + 1; i++)
		add(5, 1000 * i, 1000 * i + 100, 900);
	assert_int_equal(pauses.count, PROBE_PAUSES_KEPT + 1);
	assert_int_equal(weight(SAMPLE_OF_EXCEPTION, 5, 50, UINT64_MAX / MS), 10);
	assert_int_equal(weight(SAMPLE_OF_EXCEPTION, 5, 1050, UINT64_MAX / MS), 100);
	assert_int_equal(
		weight(SAMPLE_OF_EXCEPTION, 5, PROBE_PAUSES_KEPT * 1000 + 50, UINT64_MAX / MS),
		100);
}

#define TEST(claim) cmocka_unit_test_setup(claim, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_pause_is_as_long_as_there_were_hits),
		TEST(samples_before_a_pause_stand_for_it),
		TEST(no_pause_goes_on_past_the_end),
		TEST(a_park_across_a_pause_is_told_from_others),
		TEST(the_latest_pauses_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
