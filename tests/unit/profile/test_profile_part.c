// SPDX-License-Identifier: Apache-2.0
/* How much there is of a kind, in words. */
#include "profile/profile_part.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void check(const struct profile_kind *kind, const struct profile_info *info,
		  const char *expected)
{
	const struct profile profile = {.quality = {.samples = 64000000}};
	const struct profile_part part = {.kind = kind, .profile = &profile, .info = info};
	char text[PROFILE_PART_BYTES];

	assert_string_equal(profile_part_text(&part, text), expected);
}

static void only_what_is_known_is_said(void **state)
{
	const struct profile_info info = {
		.event = "cpu-clock", .hz = 99, .duration_ns = 8040000000};

	check(&profile_kind_cpu, &info,
	      "64,000,000 samples of cpu-clock at 99 Hz in 8.0 s: 646,464.6 s, 80406.0 cores");
	check(&profile_kind_cpu, NULL, "64,000,000 samples of cpu");
	check(&profile_kind_wall, &info, "64.0 s of wall at 99 Hz in 8.0 s");
	check(&profile_kind_wall, &(struct profile_info){.event = "timer"}, "64.0 s of wall");
	check(&profile_kind_alloc, &(struct profile_info){.duration_ns = 8040000000},
	      "61 MiB of alloc in 8.0 s");
	check(&profile_kind_objects, NULL, "64,000,000 objects");
}

static void processor_time_is_said_of_events_that_measure_it(void **state)
{
	char text[PROFILE_CORES_BYTES];

	assert_int_equal(profile_cpu_period_ns("cycles", 100), 10000000);
	assert_int_equal(profile_cpu_period_ns(NULL, 100), 10000000);
	assert_int_equal(profile_cpu_period_ns("cache-misses", 100), 0);
	assert_int_equal(profile_cpu_period_ns("cycles", 0), 0);
	assert_string_equal(profile_cores_text(1600000000, 15000000000, text),
			    "1.60 s, 0.11 cores");
	assert_string_equal(profile_cores_text(1600000000, 0, text), "1.60 s");
	assert_string_equal(profile_cores_text(40000000, 15000000000, text), "40 ms, 0.003 cores");
	assert_string_equal(profile_cores_text(0, 15000000000, text), "");
}

static void longest_words_have_room(void **state)
{
	char word[PROFILE_KIND_BYTES];
	const struct profile_kind kind = {word, word};
	const struct profile_info info = {.hz = UINT32_MAX, .duration_ns = UINT64_MAX};
	const struct profile profile = {.quality = {.samples = UINT64_MAX}};
	const struct profile_part part = {.kind = &kind, .profile = &profile, .info = &info};
	char text[PROFILE_PART_BYTES];

	memset(word, 'u', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	profile_part_text(&part, text);
	assert_string_equal(text + strlen(text) - 2, " s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_is_known_is_said),
		cmocka_unit_test(processor_time_is_said_of_events_that_measure_it),
		cmocka_unit_test(longest_words_have_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
