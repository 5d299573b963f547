// SPDX-License-Identifier: Apache-2.0
/* Labels of thread pools, above what Java threads begin with. */
#include "profile/pools.h"
#include "path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MAX_FRAMES 16

static struct profile profile;
static struct timeline timeline;
static struct pooled pooled;
static uint32_t process;

static int set_up(void **state)
{
	timeline_init(&timeline, 0);
	process = timeline_process(&timeline, &(struct timeline_process){.pid = 1, .title = "app"});
	return profile_init(&profile, 0);
}

static int tear_down(void **state)
{
	pools_fini(&pooled);
	profile_fini(&profile);
	timeline_fini(&timeline);
	return 0;
}

static struct frame frame_of(const char *word)
{
	switch (word[0]) {
	case '#':
		return (struct frame){.name = word + 1, .kind = FRAME_LABEL};
	case 'c':
		return (struct frame){
			.name = word + 1, .kind = FRAME_NATIVE, .module = "/lib/libc.so.6"};
	case 'v':
		return (struct frame){.name = word + 1, .kind = FRAME_JVM, .module = "libjvm.so"};
	case 's':
		return (struct frame){.name = word + 1, .kind = FRAME_STUB};
	case 'j':
		return (struct frame){.name = word + 1, .kind = FRAME_JIT};
	default:
		return (struct frame){
			.name = word + 1, .kind = FRAME_NATIVE, .module = "libmine.so"};
	}
}

/* Words are frames, root first, each behind the letter of its kind. thread NULL: not known. */
static void add(const char *stack, pid_t tid, const char *thread, uint32_t weight)
{
	char text[256];
	struct frame frames[MAX_FRAMES];
	struct timeline_entry entry = {.weight = weight};
	size_t n;

	strcpy(text, stack);
	n = path_frames(text, frame_of, frames, MAX_FRAMES);
	assert_int_equal(profile_add_leaf(&profile, frames, n, weight, &entry.node), 0);
	if (!thread)
		return;
	entry.thread = timeline_thread(
		&timeline,
		&(struct timeline_thread){.process = process, .tid = tid, .name = thread});
	timeline_add(&timeline, 0, &entry);
}

static void make(void)
{
	timeline_sort(&timeline);
	assert_int_equal(pools_init(&pooled, &profile, &timeline), 0);
	assert_int_equal(pooled.profile.nodes[PROFILE_ROOT].total,
			 profile.nodes[PROFILE_ROOT].total);
	assert_int_equal(pooled.profile.quality.samples, profile.quality.samples);
}

static uint32_t find(const char *path)
{
	return path_find(&pooled.profile, path);
}

static void check(const char *path, uint64_t self, uint64_t total)
{
	path_check(&pooled.profile, path, self, total);
}

static void stacks_of_a_pool_stand_together(void **state)
{
	add("#app cclone3 vrun scall_stub jwork", 1, "exec-1", 5);
	add("#app cclone3 vrun scall_stub jwork", 2, "exec-2", 6);
	add("#app cclone3 vrun scall_stub jwork", 3, "http-1", 7);
	add("#app cclone3 vrun scall_stub jwork nf", 3, "http-1", 1);
	add("#app cclone3 vrun scall_stub jwork vx scall_stub jback", 3, "http-1", 2);
	make();
	check("app", 0, 21);
	check("app/exec-*", 0, 11);
	check("app/exec-*/clone3/run/call_stub/work", 11, 11);
	check("app/http-*/clone3/run/call_stub/work", 7, 10);
	check("app/http-*/clone3/run/call_stub/work/x/call_stub/back", 2, 2);
	assert_int_equal(find("app/clone3"), 0);
	assert_true(pool_is_label(&pooled.profile.nodes[find("app/exec-*")]));
	assert_false(pool_is_label(&pooled.profile.nodes[find("app")]));
	assert_true(
		pool_ends_start(&pooled.profile.nodes[find("app/exec-*/clone3/run/call_stub")]));
	assert_int_equal(pooled.timeline.n_entries, 5);
	for (size_t i = 0; i < 5; i++)
		assert_true(pooled.timeline.entries[i].node < pooled.profile.count);
	assert_int_equal(profile.nodes[PROFILE_ROOT].total, 21);
}

static void other_threads_stay_as_they_are(void **state)
{
	add("#app cclone3 vrun vcompile", 1, "C2 CompilerThread0", 5);
	add("#app cclone3 nmine vcall scall_stub jwork", 2, "native-1", 6);
	add("#app kread", 3, "exec-1", 7);
	add("#app jwork", 3, "exec-1", 8);
	add("#app cclone3", 3, "exec-1", 1);
	make();
	check("app/clone3", 1, 12);
	check("app/clone3/run/compile", 5, 5);
	check("app/clone3/mine/call/call_stub/work", 6, 6);
	check("app/read", 7, 7);
	check("app/work", 8, 8);
	assert_int_equal(pooled.profile.count, profile.count);
}

static void stack_that_is_cut_has_its_note_on_the_lowest_level(void **state)
{
	add("#app cclone3 scall_stub jwork", 1, "exec-1", 5);
	add("#app #[truncated:_no_rule] vrun scall_stub jwork", 1, "exec-1", 4);
	make();
	check("app/exec-*", 0, 5);
	check("app/[truncated:_no_rule]/run/call_stub/work", 4, 4);
}

static void a_thread_that_is_labelled_already_is_not_named_again(void **state)
{
	add("#app #exec-1 cclone3 scall_stub jwork", 1, "exec-1", 5);
	make();
	check("app/exec-1/Java thread/clone3/call_stub/work", 5, 5);
}

static void samples_without_a_thread_are_of_others(void **state)
{
	add("#app cclone3 scall_stub jwork", 1, "exec-1", 5);
	add("#app cclone3 scall_stub jwork", 0, NULL, 2);
	timeline.entries[0].weight = 6; /* two threads say more than there is */
	add("#app cclone3 scall_stub jwork", 2, "http-1", 2);
	timeline.entries[1].weight = 100;
	make();
	check("app", 0, 9);
	check("app/exec-*", 0, 6);
	check("app/http-*", 0, 3);
	pools_fini(&pooled);
	timeline.n_entries = 0;
	timeline.n_threads = 0;
	make();
	check("app/[other threads]/clone3/call_stub/work", 9, 9);
}

static void a_thread_without_a_name_is_another(void **state)
{
	add("#app cclone3 scall_stub jwork", 1, "", 5);
	add("#app cclone3 scall_stub jwork", 0, NULL, 2);
	make();
	check("app/[other threads]/clone3/call_stub/work", 7, 7);
}

static void entries_that_a_file_made_up_are_left_out(void **state)
{
	add("#app cclone3 scall_stub jwork", 1, "exec-1", 5);
	add("#app cclone3 scall_stub jwork", 1, "exec-1", 5);
	add("#app cclone3 scall_stub", 1, "exec-1", 5);
	assert_int_equal(timeline.n_entries, 3);
	timeline.entries[0].node = 4711;
	timeline.entries[1].thread = 4711;
	make();
	assert_int_equal(pooled.timeline.n_entries, 1);
}

/* The greatest ones are told apart. */
static void pools_past_the_cap_are_one(void **state)
{
	char name[8] = "pool-a";

	for (unsigned i = 0; i < POOLS_MAX + 3; i++) {
		name[4] = (char)('a' + i % 26);
		name[5] = (char)('a' + i / 26);
		add("#app cclone3 scall_stub jwork", (pid_t)i + 1, name, i < 3 ? 1 : 2);
	}
	make();
	check("app/[other threads]", 0, 3);
	check("app/pooldb", 0, 2);
	assert_int_equal(find("app/poolaa"), 0);
}

static void check_pool(const char *thread, const char *pool)
{
	char name[POOL_NAME_BYTES];

	pool_name(thread, name);
	assert_string_equal(name, pool);
}

static void names_of_a_pool_are_one(void **state)
{
	char expected[POOL_NAME_BYTES], thread[1000];

	check_pool("", TIMELINE_OTHER_THREADS);
	check_pool("main", "main");
	check_pool("7", "*");
	check_pool("http-nio-8080-exec-7", "http-nio-8080-exec-*");
	check_pool("pool-3-thread-12", "pool-3-thread-*");
	check_pool("ForkJoinPool.commonPool-worker-1", "ForkJoinPool.commonPool-worker-*");
	check_pool("qtp1234567-34", "qtp*-*");
	check_pool("dw-34", "dw-*");
	check_pool("dw-34 - GET /items/77", "dw-*");
	check_pool("Reader - of mail", "Reader - of mail");
	check_pool("exec7", "exec*");
	check_pool("kafka-7-ListenerName", "kafka-*-ListenerName");
	check_pool("C2 CompilerThread0", "C2 CompilerThread*");
	check_pool("GC Thread#3", "GC Thread#*");
	check_pool("G1 Service", "G1 Service");
	check_pool("Executor task launch worker for task 4.0 in stage 21.0 (TID 36)",
		   "Executor task launch worker for task *.* in stage *.* (TID *)");
	memset(thread, 'x', sizeof(thread) - 1);
	thread[sizeof(thread) - 1] = '\0';
	memset(expected, 'x', sizeof(expected) - 1);
	expected[sizeof(expected) - 1] = '\0';
	check_pool(thread, expected);
}

#define CLAIM(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(stacks_of_a_pool_stand_together),
		CLAIM(other_threads_stay_as_they_are),
		CLAIM(stack_that_is_cut_has_its_note_on_the_lowest_level),
		CLAIM(a_thread_that_is_labelled_already_is_not_named_again),
		CLAIM(samples_without_a_thread_are_of_others),
		CLAIM(a_thread_without_a_name_is_another),
		CLAIM(entries_that_a_file_made_up_are_left_out),
		CLAIM(pools_past_the_cap_are_one),
		CLAIM(names_of_a_pool_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
