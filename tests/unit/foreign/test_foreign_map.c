// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about foreign/foreign_map.h and foreign_text.h: what runtimes write, and what they never
 * do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/foreign_map.h"

#define LONG_LINE_BYTES (10u << 20)

static struct foreign_map *map;
static struct foreign_map_stats stats;

static int set_up(void **state)
{
	stats = (struct foreign_map_stats){0};
	return foreign_map_new(&map);
}

static int tear_down(void **state)
{
	foreign_map_free(map);
	return 0;
}

static void feed(const char *text, uint64_t from_ns)
{
	foreign_map_feed(map, text, strlen(text), from_ns, &stats);
}

static void assert_named(uint64_t addr, uint64_t time_ns, const char *name)
{
	const struct code_range *range = foreign_map_find(map, addr, time_ns);

	if (!name) {
		assert_null(range);
		return;
	}
	assert_non_null(range);
	assert_string_equal(range->name, name);
}

static void lines_of_each_runtime_name_their_code(void **state)
{
	feed("7f5e55fc5b80 180 JS:^turn /app/main.js:10:14\n"
	     "0x7fa2c157f630 128 $spin:main/1\n"
	     "00007F13ED8CC000 0b py::_find_and_load:<frozen importlib._bootstrap>\r\n"
	     "7F0000000100 20 [PreJIT] void [System.Private.CoreLib] A::B(class C)[Optimized]\n",
	     0);
	assert_named(0x7f5e55fc5b80, 1, "JS:^turn /app/main.js:10:14");
	assert_named(0x7f5e55fc5cff, 1, "JS:^turn /app/main.js:10:14");
	assert_named(0x7f5e55fc5d00, 1, NULL);
	assert_named(0x7fa2c157f700, 1, "$spin:main/1");
	assert_named(0x7f13ed8cc00a, 1, "py::_find_and_load:<frozen importlib._bootstrap>");
	assert_named(0x7f0000000110, 1,
		     "[PreJIT] void [System.Private.CoreLib] A::B(class C)[Optimized]");
	assert_int_equal(stats.text.lines, 4);
	assert_int_equal(stats.text.broken, 0);
}

static void a_line_counts_once_it_has_ended(void **state)
{
	feed("1000 100 fir", 0);
	assert_named(0x1000, 1, NULL);
	feed("st\n2000 10", 0);
	assert_named(0x1000, 1, "first");
	feed("0 second\n", 0);
	assert_named(0x20ff, 1, "second");
	assert_int_equal(stats.text.broken, 0);
}

static void a_later_line_wins_over_an_earlier_one(void **state)
{
	feed("1000 100 old\n1000 100 new\n", 0);
	assert_named(0x1080, 0, "new");
	assert_named(0x1080, 9, "new");
}

static void what_was_replaced_names_samples_from_before(void **state)
{
	feed("1000 100 old\n", 0);
	feed("1040 100 new\n", 500);
	assert_named(0x1050, 499, "old");
	assert_named(0x1050, 500, "new");
	assert_named(0x1010, 600, "old"); /* of which nothing new is known */
}

static void a_first_line_names_samples_from_before_it_was_read(void **state)
{
	feed("", 0);
	feed("1000 100 late\n", 500);
	assert_named(0x1050, 100, "late");
}

static void lines_that_fgcollect_took_out_are_not_broken(void **state)
{
	feed("0 0 --\n00000000000000000000000000000000 0 fg\n1000 10 one\n", 0);
	assert_int_equal(stats.text.broken, 0);
	assert_named(0x1000, 1, "one");
}

static void broken_lines_are_counted_and_skipped(void **state)
{
	feed("\n"
	     "nonsense\n"
	     "1000\n"
	     "1000 100\n"
	     "1000 100 \n"
	     "1000 0 empty\n"
	     "xyz 100 name\n"
	     "1000 zz name\n"
	     "12345678123456781 10 too many digits\n"
	     "1000 100000000 4 GiB\n"
	     "ffffffffffffff00 1000 wraps\n"
	     "1000 -5 negative\n"
	     "3000 10 good\n",
	     0);
	assert_int_equal(stats.text.broken, 12);
	assert_int_equal(stats.text.lines, 1);
	assert_named(0x1000, 1, NULL);
	assert_named(0x3000, 1, "good");
}

static void what_is_harmful_in_names_is_replaced(void **state)
{
	static const char text[] = "1000 10 a\x1b[31mb\tc\x7f"
				   "d\n2000 10 nul\0byte\n"
				   "3000 10 \xe2\x80\xae\xef\xbb\xbf\xc3\xa4\xff\n";

	foreign_map_feed(map, text, sizeof(text) - 1, 0, &stats);
	assert_named(0x1000, 1, "a?[31mb?c?d");
	assert_named(0x2000, 1, "nul?byte");
	assert_named(0x3000, 1, "??\xc3\xa4?");
}

static void a_line_of_ten_megabytes_is_cut_and_the_next_one_is_read(void **state)
{
	char *text = malloc(LONG_LINE_BYTES);

	assert_non_null(text);
	memset(text, 'x', LONG_LINE_BYTES);
	feed("1000 10 ", 0);
	foreign_map_feed(map, text, LONG_LINE_BYTES, 0, &stats);
	feed("\n2000 10 next\n", 0);
	assert_int_equal(strlen(foreign_map_find(map, 0x1000, 1)->name), FOREIGN_NAME_BYTES);
	assert_named(0x2000, 1, "next");
	assert_int_equal(stats.text.cut, 1);
	assert_true(foreign_map_bytes(map) < 1u << 20);
	free(text);
}

static void another_file_does_not_go_on_with_a_cut_line(void **state)
{
	feed("1000 10 begi", 0);
	foreign_map_restart(map);
	feed("2000 10 whole\n", 0);
	assert_named(0x1000, 1, NULL);
	assert_named(0x2000, 1, "whole");
}

static void who_writes_without_end_is_refused(void **state)
{
	char line[FOREIGN_LINE_BYTES + 1], fill[FOREIGN_NAME_BYTES - 20];

	memset(fill, 'x', sizeof(fill) - 1);
	fill[sizeof(fill) - 1] = '\0';
	for (unsigned i = 0; i < 80000; i++) {
		snprintf(line, sizeof(line), "%x 10 %u%s\n", 0x1000 + i * 16, i, fill);
		feed(line, 0);
	}
	assert_true(stats.refused > 0);
	assert_true(foreign_map_bytes(map) <= FOREIGN_MAP_MAX_BYTES + (1u << 20));
}

static void names_of_what_is_gone_make_room(void **state)
{
	char line[FOREIGN_LINE_BYTES + 1], fill[900];

	memset(fill, 'x', sizeof(fill) - 1);
	fill[sizeof(fill) - 1] = '\0';
	for (unsigned i = 0; i < 80000; i++) {
		snprintf(line, sizeof(line), "1000 10 %u%s\n", i, fill);
		feed(line, i);
		if (i % 1000 == 999)
			foreign_map_expire(map, i, UINT64_C(20000000000) * (i / 1000), UINT64_MAX);
	}
	assert_int_equal(stats.refused, 0);
	assert_int_equal(foreign_map_find(map, 0x1000, 80000)->name[0], '7');
}

#define MANY 100000 /* lines */

/* Of a call that has no time, the work is left for the next ones. */
static void what_is_forgotten_costs_little_at_a_time(void **state)
{
	char line[128];
	unsigned calls = 0;
	uint64_t serial;

	for (unsigned i = 0; i < 2 * MANY; i++) {
		snprintf(line, sizeof(line), "%x 40 name_%u_of_generation_%u_with_more_text\n",
			 0x100000 + i % MANY * 64, i, i / MANY);
		feed(line, i);
	}
	serial = foreign_map_serial(map);
	foreign_map_expire(map, UINT64_MAX, UINT64_MAX, 0);
	assert_int_equal(foreign_map_serial(map), serial);
	for (; foreign_map_serial(map) == serial; calls++) {
		foreign_map_expire(map, UINT64_MAX, UINT64_MAX, 0);
		snprintf(line, sizeof(line), "%x 40 new_%u\n", 0x100000 + calls * 64, calls);
		feed(line, 2 * MANY + calls);
	}
	assert_true(calls > MANY / 1000);
	assert_int_equal(foreign_map_count(map), MANY);
	assert_string_equal(foreign_map_find(map, 0x100000 + 64 * (MANY - 1), UINT64_MAX)->name,
			    "name_199999_of_generation_1_with_more_text");
	assert_string_equal(foreign_map_find(map, 0x100000, UINT64_MAX)->name, "new_0");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(lines_of_each_runtime_name_their_code),
		CASE(a_line_counts_once_it_has_ended),
		CASE(a_later_line_wins_over_an_earlier_one),
		CASE(what_was_replaced_names_samples_from_before),
		CASE(a_first_line_names_samples_from_before_it_was_read),
		CASE(lines_that_fgcollect_took_out_are_not_broken),
		CASE(broken_lines_are_counted_and_skipped),
		CASE(what_is_harmful_in_names_is_replaced),
		CASE(a_line_of_ten_megabytes_is_cut_and_the_next_one_is_read),
		CASE(another_file_does_not_go_on_with_a_cut_line),
		CASE(who_writes_without_end_is_refused),
		CASE(names_of_what_is_gone_make_room),
		CASE(what_is_forgotten_costs_little_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
