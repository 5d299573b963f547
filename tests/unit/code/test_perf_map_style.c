// SPDX-License-Identifier: Apache-2.0
/* Claims about code/perf_map_style.h. */
#include "code/perf_map_style.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

static void check(const char *list, struct perf_map_style expected)
{
	struct perf_map_style style = {0};

	if (perf_map_style_parse(list, &style) != 0)
		fail_msg("refused: %s", list);
	assert_int_equal(style.unfold, expected.unfold);
	assert_int_equal(style.dotted, expected.dotted);
	assert_int_equal(style.signatures, expected.signatures);
	assert_int_equal(style.sourcepos, expected.sourcepos);
}

static void words_may_come_in_any_order(void **state)
{
	check("dotted", (struct perf_map_style){.dotted = true});
	check("signatures", (struct perf_map_style){.signatures = true});
	check("sourcepos", (struct perf_map_style){.sourcepos = true});
	check("unfold", (struct perf_map_style){.unfold = PERF_MAP_UNFOLD});
	check("unfoldall", (struct perf_map_style){.unfold = PERF_MAP_UNFOLD_ALL});
	check("simple", (struct perf_map_style){.unfold = PERF_MAP_UNFOLD_SIMPLE});
	check("dotted,signatures,unfold,sourcepos", (struct perf_map_style){
							    .unfold = PERF_MAP_UNFOLD,
							    .dotted = true,
							    .signatures = true,
							    .sourcepos = true,
						    });
	check("sourcepos,unfoldall,dotted,dotted", (struct perf_map_style){
							   .unfold = PERF_MAP_UNFOLD_ALL,
							   .dotted = true,
							   .sourcepos = true,
						   });
}

static void words_of_perf_map_agent_are_understood(void **state)
{
	check("unfoldsimple,msig,dottedclass", (struct perf_map_style){
						       .unfold = PERF_MAP_UNFOLD_SIMPLE,
						       .dotted = true,
						       .signatures = true,
					       });
	check("simple,unfoldsimple", (struct perf_map_style){.unfold = PERF_MAP_UNFOLD_SIMPLE});
}

static void what_makes_no_sense_is_refused_and_changes_nothing(void **state)
{
	static const char *const lists[] = {
		"",
		",",
		"dotted,",
		",dotted",
		"dotted,,msig",
		"dot",
		"dottedclasses",
		"dotted signatures",
		"Dotted",
		"unfold,unfoldall",
		"simple,dotted,unfold",
	};
	struct perf_map_style style = {.signatures = true};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (perf_map_style_parse(lists[i], &style) != -EINVAL)
			fail_msg("accepted: %s", lists[i]);
	}
	assert_true(style.signatures);
	assert_false(style.dotted);
	assert_int_equal(style.unfold, PERF_MAP_FOLDED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_may_come_in_any_order),
		cmocka_unit_test(words_of_perf_map_agent_are_understood),
		cmocka_unit_test(what_makes_no_sense_is_refused_and_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
