// SPDX-License-Identifier: Apache-2.0
/* A difference names its two sides. */
#include "draw/draw_title.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static char *files[] = {"/a/before.folded", "/a/after.folded"};
static struct draw_input before, after;

static void set(struct draw_input *side, const char *host)
{
	*side = (struct draw_input){.kind = profile_kind_cpu};
	side->recording.is_read = host != NULL;
	side->recording.info = (struct profile_info){.host = host, .duration_ns = 15000000000};
}

static void check(char *const *paths, const char *expected)
{
	char title[DRAW_TITLE_BYTES];

	draw_title_of_sides(&before, &after, paths, title);
	assert_string_equal(title, expected);
}

static void recordings_are_called_as_recordings(void **state)
{
	set(&before, "web1");
	set(&after, "web2");
	check(files, "cpu, 15 s, web1 \u2192 cpu, 15 s, web2");
	check(NULL, "cpu, 15 s, web1 \u2192 cpu, 15 s, web2");
}

static void other_files_are_called_by_their_names(void **state)
{
	set(&before, NULL);
	set(&after, "web2");
	check(files, "before.folded \u2192 cpu, 15 s, web2");
	check(NULL, "");
}

static void sides_of_one_name_are_told_apart_by_their_files(void **state)
{
	set(&before, "web1");
	set(&after, "web1");
	check(files, "cpu, 15 s, web1: /a/before.folded \u2192 /a/after.folded");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recordings_are_called_as_recordings),
		cmocka_unit_test(other_files_are_called_by_their_names),
		cmocka_unit_test(sides_of_one_name_are_told_apart_by_their_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
