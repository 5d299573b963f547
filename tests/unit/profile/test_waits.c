// SPDX-License-Identifier: Apache-2.0
/* States of threads, and which of their stacks are wanted. */
#include "profile/waits.h"

#include "path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MAX_FRAMES  16
#define GET_TASK    "java/util/concurrent/ThreadPoolExecutor.getTask"
#define MAIN_LOOP   "java/util/TimerThread.mainLoop"
#define OBJECT_WAIT "java/lang/Object.wait"
#define FUTEX	    " w[blocked:_futex]"

static struct profile profile;
static struct timeline timeline;
static struct waits waits;
static struct waits_cut cut;
static struct wait_options options;

static int set_up(void **state)
{
	options = (struct wait_options){0};
	timeline_init(&timeline, 0);
	return profile_init(&profile, 0);
}

static int tear_down(void **state)
{
	waits_cut_fini(&cut);
	waits_fini(&waits);
	timeline_fini(&timeline);
	profile_fini(&profile);
	return 0;
}

static struct frame frame_of(const char *word)
{
	return (struct frame){.name = word + 1,
			      .kind = word[0] == '#'   ? FRAME_LABEL
				      : word[0] == 'w' ? FRAME_WAIT
						       : FRAME_JIT};
}

/* Words are frames, root first, each behind the letter of its kind. Its leaf. */
static uint32_t add(const char *stack, uint64_t weight)
{
	char text[256];
	struct frame frames[MAX_FRAMES];
	uint32_t leaf;
	size_t n;

	strcpy(text, stack);
	n = path_frames(text, frame_of, frames, MAX_FRAMES);
	assert_int_equal(profile_add_leaf(&profile, frames, n, weight, &leaf), 0);
	return leaf;
}

static void look(void)
{
	waits_fini(&waits);
	assert_int_equal(waits_init(&waits, &profile, &options), 0);
}

static void cut_as(enum waits_way way)
{
	look();
	waits_cut_fini(&cut);
	assert_int_equal(waits_cut_init(&cut, &profile, &timeline, &waits, &options, way), 0);
}

static void check(const char *path, uint64_t self, uint64_t total)
{
	path_check(&cut.profile, path, self, total);
}

static void check_said(enum waits_way way, const char *expected)
{
	char said[WAITS_SAY_BYTES];

	look();
	assert_string_equal(waits_say(&waits, &options, way, &profile_kind_wall, said), expected);
}

/* 900 s, of which 843 s are idle. */
static void add_shop(void)
{
	add("#shop jmain jprice", 20000000);
	add("#shop jmain jprice w[runnable]", 2000000);
	add("#shop jmain jquery w[blocked:_read]", 35000000);
	add("#shop #pool jrun j" GET_TASK " jpark" FUTEX, 843000000);
}

static void the_leaf_says_the_state(void **state)
{
	add_shop();
	look();
	assert_true(waits.has_waits);
	assert_int_equal(waits.all, 900000000);
	assert_int_equal(waits.by_state[WAIT_RUNNING], 20000000);
	assert_int_equal(waits.by_state[WAIT_RUNNABLE], 2000000);
	assert_int_equal(waits.by_state[WAIT_BLOCKED], 878000000);
	assert_int_equal(waits.idle, 843000000);
}

/* What a waker did has frames of the same kind. */
static void the_stack_of_a_waker_says_nothing_of_who_waited(void **state)
{
	const uint32_t busy =
		add("#shop jmain w[blocked:_futex] w[woken_by_pool] wunpark w" GET_TASK " wrun", 7);
	const uint32_t upside_down = add("#shop wrun w" GET_TASK " w[blocked:_futex] jmain", 5);

	look();
	assert_int_equal(waits.states[busy], WAIT_BLOCKED);
	assert_int_equal(waits.states[upside_down], WAIT_BLOCKED);
	assert_false(waits.is_idle[busy]);
	assert_false(waits.is_idle[upside_down]);
	assert_int_equal(waits.idle, 0);
}

static void without_waits_all_runs(void **state)
{
	add("#shop j" GET_TASK, 5);
	look();
	assert_false(waits.has_waits);
	assert_int_equal(waits.by_state[WAIT_RUNNING], 5);
	assert_int_equal(waits.idle, 0);
	assert_false(waits_changes(&waits, &options, WAITS_LEAVE_OUT));
	options.states = 1u << WAIT_BLOCKED;
	cut_as(WAITS_LEAVE_OUT);
	assert_int_equal(cut.profile.count, 1);
}

/* A pool's thread that waits for a processor has work. */
static void only_blocked_threads_are_idle(void **state)
{
	add("#shop j" GET_TASK " w[runnable]", 1);
	add("#shop j" GET_TASK, 2);
	look();
	assert_int_equal(waits.idle, 0);
}

static void a_loop_is_idle_while_it_waits_itself(void **state)
{
	add("#shop j" MAIN_LOOP " j" OBJECT_WAIT FUTEX, 1);
	add("#shop j" MAIN_LOOP " jtask j" OBJECT_WAIT FUTEX, 2);
	look();
	assert_int_equal(waits.idle, 1);
}

static void stacks_upside_down_are_the_same(void **state)
{
	add("w[blocked:_futex] jpark j" GET_TASK " jrun #shop", 1);
	add("w[blocked:_futex] j" OBJECT_WAIT " j" MAIN_LOOP " #shop", 2);
	add("w[blocked:_futex] j" OBJECT_WAIT " jtask j" MAIN_LOOP " #shop", 4);
	add("w[runnable] jprice #shop", 8);
	look();
	assert_int_equal(waits.idle, 3);
	assert_int_equal(waits.by_state[WAIT_RUNNABLE], 8);
}

static void frames_can_be_added_to_the_list(void **state)
{
	add("#shop jcom/acme/Pool.rest" FUTEX, 3);
	look();
	assert_int_equal(waits.idle, 0);
	options.idle_frames[options.n_idle_frames++] = "com.acme.*.rest";
	look();
	assert_int_equal(waits.idle, 3);
}

static void idle_is_left_out_with_what_led_to_it(void **state)
{
	add_shop();
	cut_as(WAITS_LEAVE_OUT);
	check("", 0, 57000000);
	check("shop/main/query/[blocked:_read]", 35000000, 35000000);
	check("shop/main/price", 20000000, 22000000);
	assert_int_equal(path_find(&cut.profile, "shop/pool"), 0);
	assert_int_equal(cut.profile.quality.samples, 57000000);
}

static void idle_is_one_frame_above_the_labels(void **state)
{
	add_shop();
	add("#shop #pool jrun j" GET_TASK " jother" FUTEX, 7);
	add("#shop #[truncated:_x] j" GET_TASK FUTEX, 5);
	cut_as(WAITS_FOLD);
	check("", 0, 900000012);
	check("shop/pool", 0, 843000007);
	check("shop/pool/[idle]", 843000007, 843000007);
	check("shop/[idle]", 5, 5);
	assert_int_equal(path_find(&cut.profile, "shop/pool/run"), 0);
	assert_int_equal(cut.profile.nodes[path_find(&cut.profile, "shop/[idle]")].kind,
			 FRAME_WAIT);
}

static void only_wanted_states_are_kept(void **state)
{
	add_shop();
	options.states = 1u << WAIT_RUNNING | 1u << WAIT_BLOCKED;
	cut_as(WAITS_LEAVE_OUT);
	check("", 0, 55000000);
	check("shop/main/price", 20000000, 20000000);
	options.states = 1u << WAIT_RUNNABLE;
	cut_as(WAITS_KEEP);
	check("", 0, 2000000);
	check("shop/main/price", 0, 2000000);
}

static void times_follow_their_stacks(void **state)
{
	const struct timeline_process process = {.pid = 7,
						 .title = "shop",
						 .container = "",
						 .runtime = "",
						 .pod = "",
						 .container_name = "",
						 .name_space = ""};
	struct timeline_entry entry = {.weight = 3};
	const uint32_t kept = add("#shop jprice", 3);
	const uint32_t idle = add("#shop j" GET_TASK FUTEX, 4);

	entry.thread = timeline_thread(
		&timeline,
		&(struct timeline_thread){
			.process = timeline_process(&timeline, &process), .tid = 8, .name = "t"});
	entry.node = idle;
	timeline_add(&timeline, 0, &entry);
	entry.node = kept;
	timeline_add(&timeline, 1000000000, &entry);
	timeline_sort(&timeline);
	cut_as(WAITS_LEAVE_OUT);
	assert_int_equal(cut.timeline.n_entries, 1);
	assert_int_equal(cut.timeline.entries[0].node, path_find(&cut.profile, "shop/price"));
	cut_as(WAITS_FOLD);
	assert_int_equal(cut.timeline.n_entries, 2);
	assert_int_equal(cut.timeline.entries[0].node, path_find(&cut.profile, "shop/[idle]"));
}

static void the_number_is_said(void **state)
{
	add_shop();
	check_said(WAITS_LEAVE_OUT, "idle: 843.0 s of 900.0 s (93.7 %), not shown");
	check_said(WAITS_KEEP, "idle: 843.0 s of 900.0 s (93.7 %)");
	options.states = 1u << WAIT_RUNNING | 1u << WAIT_BLOCKED;
	check_said(WAITS_LEAVE_OUT, "only running and blocked: 55.0 s of 900.0 s (6.1 %); "
				    "idle: 843.0 s of 900.0 s (93.7 %), not shown");
	options.states = 1u << WAIT_RUNNING;
	check_said(WAITS_LEAVE_OUT, "only running: 20.0 s of 900.0 s (2.2 %)");
}

static void nothing_is_said_of_what_only_runs(void **state)
{
	add("#shop jprice", 5);
	check_said(WAITS_LEAVE_OUT, "");
}

static void states_are_words_with_commas(void **state)
{
	unsigned states = 0;

	assert_true(wait_states_parse("running,blocked", &states));
	assert_int_equal(states, 1u << WAIT_RUNNING | 1u << WAIT_BLOCKED);
	assert_true(wait_states_parse("runnable", &states));
	assert_int_equal(states, 1u << WAIT_RUNNABLE);
	assert_false(wait_states_parse("", &states));
	assert_false(wait_states_parse("running,", &states));
	assert_false(wait_states_parse("run", &states));
	assert_false(wait_states_parse("running blocked", &states));
	assert_int_equal(states, 1u << WAIT_RUNNABLE);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(the_leaf_says_the_state),
		CLAIM(the_stack_of_a_waker_says_nothing_of_who_waited),
		CLAIM(without_waits_all_runs),
		CLAIM(only_blocked_threads_are_idle),
		CLAIM(a_loop_is_idle_while_it_waits_itself),
		CLAIM(stacks_upside_down_are_the_same),
		CLAIM(frames_can_be_added_to_the_list),
		CLAIM(idle_is_left_out_with_what_led_to_it),
		CLAIM(idle_is_one_frame_above_the_labels),
		CLAIM(only_wanted_states_are_kept),
		CLAIM(times_follow_their_stacks),
		CLAIM(the_number_is_said),
		CLAIM(nothing_is_said_of_what_only_runs),
		CLAIM(states_are_words_with_commas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
