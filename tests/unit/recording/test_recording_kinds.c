// SPDX-License-Identifier: Apache-2.0
/* Words of --kind and the kinds of samples that they ask for. */
#include "recording/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static unsigned kinds_of(const char *list)
{
	char bad[16];

	return recording_kinds_of(list, bad);
}

static void a_word_asks_for_its_kind(void **state)
{
	assert_int_equal(kinds_of("cpu"), SAMPLES_OF_CPU);
	assert_int_equal(kinds_of("offcpu,wall"), SAMPLES_OF_WALL | SAMPLES_OF_OFFCPU);
	assert_int_equal(kinds_of("exceptions"), SAMPLES_OF_EXCEPTIONS);
	assert_int_equal(kinds_of("objects"), SAMPLES_OF_OBJECTS);
	assert_int_equal(kinds_of("contentions"), SAMPLES_OF_CONTENTIONS);
}

static void allocations_and_locks_are_two_kinds_each(void **state)
{
	assert_int_equal(kinds_of("alloc"), SAMPLES_OF_ALLOC | SAMPLES_OF_OBJECTS);
	assert_int_equal(kinds_of("lock"), SAMPLES_OF_LOCK | SAMPLES_OF_CONTENTIONS);
	assert_int_equal(kinds_of("cpu,alloc,objects,lock"),
			 SAMPLES_OF_CPU | SAMPLES_OF_ALLOC | SAMPLES_OF_OBJECTS | SAMPLES_OF_LOCK |
				 SAMPLES_OF_CONTENTIONS);
}

static void a_word_that_is_no_kind_is_said(void **state)
{
	char bad[16];

	assert_int_equal(recording_kinds_of("alloc,memory", bad), 0);
	assert_string_equal(bad, "memory");
	assert_int_equal(recording_kinds_of("alloc,", bad), 0);
	assert_string_equal(bad, "");
	assert_int_equal(recording_kinds_of("allocallocallocalloc", bad), 0);
	assert_string_equal(bad, "allocallocalloc");
}

static void a_list_of_kinds_asks_for_these_kinds(void **state)
{
	const unsigned all = (1u << SAMPLE_KINDS) - 1;
	char text[RECORDING_KINDS_BYTES];

	assert_string_equal(recording_kinds_text(kinds_of("lock,cpu"), text),
			    "cpu,lock,contentions");
	assert_string_equal(recording_kinds_text(all, text),
			    "cpu,wall,offcpu,alloc,objects,lock,contentions,exceptions");
	assert_int_equal(kinds_of(text), all);
}

/* Of whom nothing has run, there is no sample by which the collector would find the process. */
static void all_processes_are_read_for_their_time_and_for_a_name(void **state)
{
	struct recording_options options = {.all = true, .kinds = SAMPLES_OF_CPU};

	assert_false(recording_needs_survey(&options));
	options.kinds = SAMPLES_OF_CPU | SAMPLES_OF_WALL;
	assert_true(recording_needs_survey(&options));
	options.kinds = SAMPLES_OF_OFFCPU;
	assert_true(recording_needs_survey(&options));
	options.all = false;
	assert_false(recording_needs_survey(&options));
	options = (struct recording_options){.all = true, .kinds = SAMPLES_OF_CPU};
	strcpy(options.select.comm, "java");
	assert_true(recording_needs_survey(&options));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_word_asks_for_its_kind),
		cmocka_unit_test(allocations_and_locks_are_two_kinds_each),
		cmocka_unit_test(a_word_that_is_no_kind_is_said),
		cmocka_unit_test(a_list_of_kinds_asks_for_these_kinds),
		cmocka_unit_test(all_processes_are_read_for_their_time_and_for_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
