// SPDX-License-Identifier: Apache-2.0
/* Which stacks of threads that wait are in a file of each format. */
#include "profile_of.h"

#define GET_TASK F("java/util/concurrent/ThreadPoolExecutor.getTask", JIT)
#define BLOCKED	 F("[blocked: futex]", WAIT)

static struct profile profile;

/* 900 s, of which 843 s are idle. */
static int set_up(void **state)
{
	const struct note notes[] = {
		{{F("shop", LABEL), F("a/B.price", JIT)}, 22000000},
		{{F("shop", LABEL), F("a/B.query", JIT), BLOCKED}, 35000000},
		{{F("shop", LABEL), GET_TASK, BLOCKED}, 843000000},
	};

	assert_int_equal(profile_init(&profile, 0), 0);
	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++)
		add_note(&profile, &notes[i]);
	return 0;
}

static int tear_down(void **state)
{
	profile_fini(&profile);
	return 0;
}

static void check_has(enum render_format format, const struct render_options *options,
		      const char *what, bool is_there)
{
	char *const text = written(&profile, format, options);

	assert_int_equal(strstr(text, what) != NULL, is_there);
	free(text);
}

static void picture_hides_idle_threads_and_says_how_much_they_are(void **state)
{
	struct render_options options = {.kind = &profile_kind_wall, .subtitle = "10 s"};

	check_has(RENDER_SVG, &options, ">10 s; idle: 843.0 s of 900.0 s (93.7 %), not shown<",
		  true);
	check_has(RENDER_SVG, &options, "getTask", false);
	options.waits.idle = WAIT_IDLE_SHOWN;
	check_has(RENDER_SVG, &options, "getTask", true);
	check_has(RENDER_SVG, &options, ">10 s; idle: 843.0 s of 900.0 s (93.7 %)<", true);
}

static void picture_of_threads_that_run_says_nothing(void **state)
{
	const struct render_options options = {.subtitle = "10 s"};

	profile_fini(&profile);
	assert_int_equal(profile_init(&profile, 0), 0);
	add_note(&profile, &(struct note){{F("shop", LABEL), GET_TASK}, 3});
	check_has(RENDER_SVG, &options, ">10 s<", true);
}

static void other_files_have_all_stacks_unless_told_otherwise(void **state)
{
	struct render_options options = {.kind = &profile_kind_wall};
	char *text = written(&profile, RENDER_FOLDED, &options);

	assert_non_null(strstr(text, "getTask_[j];[blocked: futex]_[w] 843000000\n"));
	free(text);
	options.waits.idle = WAIT_IDLE_HIDDEN;
	text = written(&profile, RENDER_FOLDED, &options);
	assert_string_equal(text, "shop;[idle]_[w] 843000000\n"
				  "shop;a/B.price_[j] 22000000\n"
				  "shop;a/B.query_[j];[blocked: futex]_[w] 35000000\n");
	free(text);
}

static void a_recording_has_all_stacks(void **state)
{
	const struct render_options plain = {.kind = &profile_kind_wall};
	struct render_options options = plain;
	size_t len, plain_len;
	char *const all = rendered(&profile, RENDER_RECORDING, &plain, &plain_len);
	char *some;

	options.waits.idle = WAIT_IDLE_HIDDEN;
	options.waits.states = 1u << WAIT_RUNNING;
	some = rendered(&profile, RENDER_RECORDING, &options, &len);
	assert_int_equal(len, plain_len);
	assert_memory_equal(some, all, len);
	free(some);
	free(all);
}

static void files_have_the_states_that_are_wanted(void **state)
{
	struct render_options options = {.kind = &profile_kind_wall,
					 .waits.states = 1u << WAIT_RUNNING};
	char *const text = written(&profile, RENDER_FOLDED, &options);

	assert_string_equal(text, "shop;a/B.price_[j] 22000000\n");
	free(text);
	check_has(RENDER_SVG, &options, ">only running: 22.0 s of 900.0 s (2.4 %)<", true);
}

static void idle_is_one_frame_with_java_only_too(void **state)
{
	const struct render_options options = {
		.kind = &profile_kind_wall, .java_only = true, .waits.idle = WAIT_IDLE_HIDDEN};

	check_has(RENDER_FOLDED, &options, "shop;[idle]_[w] 843000000\n", true);
	check_has(RENDER_FOLDED, &options, "a/B.query_[j];[blocked: futex]_[w] 35000000\n", true);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		test(picture_hides_idle_threads_and_says_how_much_they_are),
		test(picture_of_threads_that_run_says_nothing),
		test(other_files_have_all_stacks_unless_told_otherwise),
		test(a_recording_has_all_stacks),
		test(files_have_the_states_that_are_wanted),
		test(idle_is_one_frame_with_java_only_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
