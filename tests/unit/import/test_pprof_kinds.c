// SPDX-License-Identifier: Apache-2.0
/* Which kinds of samples the types of a pprof profile are: types as programs write them. */
#include "import/pprof_kinds.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_TYPES 80

/* Types as "name/unit name/unit"; the texts are of text, which is changed. */
static size_t split(char *text, struct pprof_type types[MAX_TYPES])
{
	size_t n = 0;
	char *rest = NULL;

	for (char *one = strtok_r(text, " ", &rest); one; one = strtok_r(NULL, " ", &rest)) {
		char *const slash = strchr(one, '/');

		assert_true(n < MAX_TYPES);
		*slash = '\0';
		types[n++] = (struct pprof_type){one, slash + 1};
	}
	return n;
}

/* The kinds as "name unit number-of-value", with commas between. */
static void check(const char *text, const char *default_type, const char *expected)
{
	struct pprof_type types[MAX_TYPES];
	struct pprof_kinds kinds;
	char copy[1024], found[1024] = "";
	size_t n;

	snprintf(copy, sizeof(copy), "%s", text);
	n = split(copy, types);
	assert_int_equal(pprof_kinds_init(&kinds, types, n, default_type), 0);
	for (size_t i = 0; i < kinds.n; i++) {
		const size_t len = strlen(found);

		snprintf(found + len, sizeof(found) - len, "%s%s %s %u", i ? ", " : "",
			 kinds.items[i].name, kinds.items[i].unit, kinds.items[i].value);
	}
	assert_string_equal(found, expected);
}

static void check_fails(const char *text, int err, const char *reason)
{
	struct pprof_type types[MAX_TYPES];
	struct pprof_kinds kinds;
	char copy[1024];
	size_t n;

	snprintf(copy, sizeof(copy), "%s", text);
	n = split(copy, types);
	assert_int_equal(pprof_kinds_init(&kinds, types, n, ""), err);
	assert_non_null(strstr(kinds.reason, reason));
}

static void samples_of_processor_time_are_one_kind_with_it(void **state)
{
	check("samples/count cpu/nanoseconds", "", "cpu samples 0");
	check("samples/count cpu/nanoseconds", "cpu", "cpu samples 0");
	check("cpu/nanoseconds samples/count", "", "cpu samples 1");
	check("samples/count", "", "cpu samples 0");
	check("cpu/count", "", "cpu samples 0");
}

static void all_that_we_write_is_told_apart(void **state)
{
	check("samples/count cpu/nanoseconds wall/nanoseconds offcpu/nanoseconds", "cpu",
	      "cpu samples 0, wall microseconds 2, offcpu microseconds 3");
	check("wall/nanoseconds samples/count cpu/nanoseconds", "wall",
	      "wall microseconds 0, cpu samples 1");
}

static void names_of_other_programs_are_known(void **state)
{
	check("wall-time/nanoseconds", "", "wall microseconds 0");
	check("off_cpu/nanoseconds", "", "offcpu microseconds 0");
	check("sample/count wall/microseconds", "", "wall microseconds 1, sample count 0");
	check("cpu-samples/count cpu-time/nanoseconds", "",
	      "cpu microseconds 1, cpu-samples count 0");
}

/* samples/count beside wall-clock time counts samples of that. */
static void samples_of_other_times_are_not_of_processor_time(void **state)
{
	check("samples/count wall/nanoseconds", "", "wall microseconds 1, samples count 0");
	check("samples/count time/nanoseconds", "", "time microseconds 1, samples count 0");
	check("cpu/nanoseconds", "", "cpu microseconds 0");
}

static void other_types_are_kinds_of_their_own(void **state)
{
	check("alloc_space/count alloc_objects/bytes delay/count", "delay",
	      "delay count 2, alloc_space count 0, alloc_objects bytes 1");
	check("contentions/bytes exceptions/nanoseconds", "",
	      "exceptions microseconds 1, contentions bytes 0");
}

static void types_of_go_are_our_kinds(void **state)
{
	check("contentions/count delay/nanoseconds", "",
	      "lock microseconds 1, contentions count 0");
	check("alloc_objects/count alloc_space/bytes", "alloc_space",
	      "alloc bytes 1, objects count 0");
	check("alloc_objects/count alloc_space/bytes", "alloc_objects",
	      "objects count 0, alloc bytes 1");
	check("alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes",
	      "inuse_space", "live bytes 3, alloc bytes 1, objects count 0, live_objects count 2");
	check("inuse_objects/count inuse_space/bytes", "inuse_objects",
	      "live_objects count 0, live bytes 1");
	check("samples/count inuse_objects/count inuse_space/bytes", "samples",
	      "cpu samples 0, live bytes 2, live_objects count 1");
	check("exceptions/count", "", "exceptions count 0");
	check("samples/count cpu/nanoseconds alloc_objects/count alloc_space/bytes "
	      "contentions/count delay/nanoseconds exceptions/count",
	      "cpu",
	      "cpu samples 0, alloc bytes 3, objects count 2, lock microseconds 5, "
	      "contentions count 4, exceptions count 6");
}

static void default_type_is_first_or_else_the_last(void **state)
{
	check("a/bytes b/bytes c/bytes", "b", "b bytes 1, a bytes 0, c bytes 2");
	check("a/bytes b/bytes c/bytes", "", "c bytes 2, a bytes 0, b bytes 1");
	check("a/bytes b/bytes c/bytes", "d", "c bytes 2, a bytes 0, b bytes 1");
}

static void equal_names_get_their_unit(void **state)
{
	check("malloc/bytes malloc/count", "", "malloc count 1, malloc_bytes bytes 0");
	check("wall/ns wall-time/ns", "wall", "wall microseconds 0, wall-time microseconds 1");
	check_fails("a/bytes a/bytes a/bytes", -EINVAL, "two types of samples have one name");
}

static void types_past_a_limit_are_errors(void **state)
{
	char text[1024] = "";

	check_fails("", -EINVAL, "no type of samples");
	for (int i = 0; i < 65; i++)
		snprintf(text + strlen(text), 16, "a%d/b ", i);
	check_fails(text, -EFBIG, "more than 64 types");
	snprintf(text, sizeof(text), "%064d/bytes", 0);
	check_fails(text, -EFBIG, "name of more than 63 bytes");
	snprintf(text, sizeof(text), "a/%064d", 0);
	check_fails(text, -EFBIG, "unit of more than 63 bytes");
}

static uint64_t weight(const char *unit, uint64_t value)
{
	const struct pprof_type type = {"wall", unit};
	struct pprof_kinds kinds;

	assert_int_equal(pprof_kinds_init(&kinds, &type, 1, ""), 0);
	return pprof_kind_weight(&kinds.items[0], value);
}

static void times_become_microseconds(void **state)
{
	assert_int_equal(weight("nanoseconds", 1499), 1);
	assert_int_equal(weight("nanoseconds", 1500), 2);
	assert_int_equal(weight("microseconds", 7), 7);
	assert_int_equal(weight("milliseconds", 7), 7000);
	assert_int_equal(weight("s", 7), 7000000);
	assert_true(weight("seconds", UINT64_MAX / 2) == UINT64_MAX);
	assert_int_equal(weight("bytes", 1500), 1500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_of_processor_time_are_one_kind_with_it),
		cmocka_unit_test(all_that_we_write_is_told_apart),
		cmocka_unit_test(names_of_other_programs_are_known),
		cmocka_unit_test(samples_of_other_times_are_not_of_processor_time),
		cmocka_unit_test(other_types_are_kinds_of_their_own),
		cmocka_unit_test(types_of_go_are_our_kinds),
		cmocka_unit_test(default_type_is_first_or_else_the_last),
		cmocka_unit_test(equal_names_get_their_unit),
		cmocka_unit_test(types_past_a_limit_are_errors),
		cmocka_unit_test(times_become_microseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
