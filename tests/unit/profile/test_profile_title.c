// SPDX-License-Identifier: Apache-2.0
/* What a recording is called: "shop, cpu, 15 s, 23:48 UTC, web1". */
#include "profile/profile_title.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define AT_23_48 UINT64_C(1795823280000000000) /* 2026-11-27 23:48 UTC */

static struct timeline timeline;
static struct profile_info info;

static int set_up(void **state)
{
	timeline_init(&timeline, 0);
	info = (struct profile_info){
		.host = "web1", .start_unix_ns = AT_23_48, .duration_ns = 15000000000};
	return 0;
}

static int tear_down(void **state)
{
	timeline_fini(&timeline);
	return 0;
}

static void add(pid_t pid, const char *container, const char *title, unsigned weight)
{
	const struct timeline_process process = {.pid = pid,
						 .title = title,
						 .container = "",
						 .runtime = "",
						 .pod = "",
						 .container_name = container};
	const struct timeline_thread thread = {
		.process = timeline_process(&timeline, &process), .tid = pid, .name = "main"};
	const struct timeline_entry entry = {
		.thread = timeline_thread(&timeline, &thread), .node = 1, .weight = weight};

	timeline_add(&timeline, 0, &entry);
}

static void check(const struct profile_info *facts, const char *expected)
{
	const struct profile profile = {0};
	const struct profile_part part = {&profile_kind_cpu, &profile, &timeline, facts};
	char title[PROFILE_TITLE_BYTES];

	assert_int_equal(profile_title_write(&part, 1, title), expected[0] != 0);
	assert_string_equal(title, expected);
}

static void it_says_who_what_how_long_when_and_where(void **state)
{
	add(17, "shop-1", "app.jar", 3);
	check(&info, "shop-1: app.jar, cpu, 15 s, 23:48 UTC, web1");
	info.duration_ns = 1500000000;
	info.host = NULL;
	check(&info, "shop-1: app.jar, cpu, 1.5 s, 23:48 UTC");
	check(NULL, "shop-1: app.jar, cpu");
	info = (struct profile_info){.duration_ns = UINT64_C(600000000000)};
	check(&info, "shop-1: app.jar, cpu, 10 min");
}

static void without_facts_there_is_no_title(void **state)
{
	check(NULL, "");
	check(&(struct profile_info){.hz = 99}, "");
	check(&(struct profile_info){.host = "web1"}, "cpu, web1");
}

static void the_programs_with_most_are_named(void **state)
{
	add(17, "", "Cart", 1);
	add(18, "", "Shop", 9);
	check(&(struct profile_info){0}, "Shop and Cart, cpu");
	add(19, "", "Shop", 1); /* once more, after a restart */
	check(&(struct profile_info){0}, "Shop and Cart, cpu");
	add(22, "", "[gone]", 7);
	add(20, "", "bash", 5);
	add(21, "", "cron", 4);
	check(&(struct profile_info){0}, "Shop, bash and 2 more, cpu");
}

static void several_kinds_are_named(void **state)
{
	const struct profile profile = {0};
	const struct profile_part parts[] = {
		{&profile_kind_cpu, &profile, &timeline, &info},
		{&profile_kind_wall, &profile, NULL, NULL},
	};
	char title[PROFILE_TITLE_BYTES];

	assert_true(profile_title_write(parts, 2, title));
	assert_string_equal(title, "cpu and wall, 15 s, 23:48 UTC, web1");
}

static void long_names_are_cut_and_leave_room_for_the_rest(void **state)
{
	const struct profile profile = {0};
	const struct profile_part part = {&profile_kind_cpu, &profile, &timeline, &info};
	const char *const end = " and 1 more, cpu, 15 s, 23:48 UTC, web1";
	char name[400], title[PROFILE_TITLE_BYTES];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	add(17, name, "Main", 1);
	name[0] = 'm';
	add(18, name, "Main", 1);
	add(19, "x", "Main", 1);
	assert_true(profile_title_write(&part, 1, title));
	assert_string_equal(title + strlen(title) - strlen(end), end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_says_who_what_how_long_when_and_where, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(without_facts_there_is_no_title, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_programs_with_most_are_named, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(several_kinds_are_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(long_names_are_cut_and_leave_room_for_the_rest,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
