// SPDX-License-Identifier: Apache-2.0
/* Levels of compilation as one node, and time as its Java method's. */
#include "profile/pools.h"
#include "profile/reshape.h"
#include "path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_FRAMES 16

static struct profile profile;
static struct reshaped reshaped;

static int set_up(void **state)
{
	return profile_init(&profile, 0);
}

static int tear_down(void **state)
{
	profile_fini(&profile);
	reshape_fini(&reshaped);
	return 0;
}

static enum frame_kind kind_of_letter(char letter)
{
	switch (letter) {
	case '0':
		return FRAME_INTERPRETED;
	case '1':
		return FRAME_C1;
	case 'j':
		return FRAME_JIT;
	case 'w':
		return FRAME_NATIVE_WRAPPER;
	case 'i':
		return FRAME_INLINED;
	case 'k':
		return FRAME_KERNEL;
	case 'v':
		return FRAME_JVM;
	case '#':
	case '@':
		return FRAME_LABEL;
	case 's':
		return FRAME_STUB;
	case 'z':
		return FRAME_WAIT;
	case 'c':
		return FRAME_CLASS;
	default:
		return FRAME_NATIVE;
	}
}

static struct frame frame_of(const char *word)
{
	return (struct frame){.name = word + 1,
			      .module = word[0] == '@' ? POOL_MODULE : NULL,
			      .kind = kind_of_letter(word[0])};
}

/*
 * Words are frames, root first, each behind the letter of its kind: "#app @pool nstart jrun". Its
 * leaf.
 */
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

/* Where nothing is said to change, each node is as before. */
static void check_unchanged(void)
{
	assert_int_equal(reshaped.profile.count, profile.count);
	for (uint32_t id = 0; id < profile.count; id++) {
		const struct profile_node *const now = &reshaped.profile.nodes[id];
		const struct profile_node *const node = &profile.nodes[id];

		assert_string_equal(now->name, node->name);
		assert_int_equal(now->kind, node->kind);
		assert_int_equal(now->line, node->line);
		assert_int_equal(!now->module, !node->module);
		assert_int_equal(now->parent, node->parent);
		assert_int_equal(now->next_sibling, node->next_sibling);
		assert_int_equal(now->total, node->total);
		assert_true(level_count(&reshaped.levels[id]) < 2);
	}
}

static void reshape_as(const struct reshape_options *how)
{
	const int changes = reshape_changes(&profile, how);

	reshape_fini(&reshaped);
	assert_int_equal(reshape_init(&reshaped, &profile, how), 0);
	assert_in_range(changes, 0, 1);
	if (changes == 0)
		check_unchanged();
	assert_int_equal(reshaped.profile.nodes[PROFILE_ROOT].total,
			 profile.nodes[PROFILE_ROOT].total);
}

static void reshape(bool merges_levels, bool java_only)
{
	reshape_as(
		&(struct reshape_options){.merges_levels = merges_levels, .java_only = java_only});
}

static uint32_t find(const char *path)
{
	return path_find(&reshaped.profile, path);
}

static void check(const char *path, uint64_t self, uint64_t total)
{
	path_check(&reshaped.profile, path, self, total);
}

static void a_method_is_one_whatever_it_was_compiled_to(void **state)
{
	const struct level_counts *levels;

	add("#app 0main 0work", 10);
	add("#app 0main 1work", 20);
	add("#app 0main jwork", 50);
	add("#app 0main jwork iinner", 5);
	add("#app 0main 1work 1inner", 3);
	add("#app 0main nwork", 2); /* a native function of that name is another one */
	reshape(true, false);
	assert_int_equal(reshaped.profile.nodes[find("app/main")].total, 90);
	for (uint32_t id = reshaped.profile.nodes[find("app/main")].first_child; id;
	     id = reshaped.profile.nodes[id].next_sibling) {
		if (reshaped.profile.nodes[id].kind == FRAME_NATIVE) {
			assert_int_equal(reshaped.profile.nodes[id].total, 2);
			continue;
		}
		assert_int_equal(reshaped.profile.nodes[id].kind, FRAME_JIT);
		assert_int_equal(reshaped.profile.nodes[id].total, 88);
		levels = &reshaped.levels[id];
		assert_int_equal(level_count(levels), 3);
		assert_int_equal(levels->totals[LEVEL_INTERPRETED], 10);
		assert_int_equal(levels->totals[LEVEL_C1], 23);
		assert_int_equal(levels->totals[LEVEL_C2], 55);
		id = reshaped.profile.nodes[id].first_child;
		assert_int_equal(reshaped.profile.nodes[id].kind, FRAME_INLINED);
		assert_int_equal(reshaped.profile.nodes[id].total, 8);
		assert_int_equal(reshaped.levels[id].totals[LEVEL_INLINED], 5);
		return;
	}
	fail();
}

static void a_kind_that_is_alone_stays(void **state)
{
	add("#app wnative0", 1);
	add("#app 0plain", 1);
	reshape(true, false);
	assert_int_equal(reshaped.profile.nodes[find("app/native0")].kind, FRAME_NATIVE_WRAPPER);
	assert_int_equal(reshaped.profile.nodes[find("app/plain")].kind, FRAME_INTERPRETED);
	assert_int_equal(level_count(&reshaped.levels[find("app")]), 0);
}

/* Whether merged levels change the tree; the tree starts anew. */
static void check_changes(const char *const *stacks, int expected)
{
	profile_fini(&profile);
	assert_int_equal(profile_init(&profile, 0), 0);
	for (; *stacks; stacks++)
		add(*stacks, 1);
	assert_int_equal(
		reshape_changes(&profile, &(struct reshape_options){.merges_levels = true}),
		expected);
	reshape(true, false);
}

static void a_tree_without_a_method_of_two_levels_does_not_change(void **state)
{
	check_changes((const char *[]){"#app 0main jwork", "#app 0main kwork", NULL}, 0);
	check_changes((const char *[]){"#app 0main jwork", "#app 0main iwork", NULL}, 1);
	check_changes((const char *[]){"#app 0main jwork 0work", "#app 1work", NULL}, 0);
	/* some methods, all apart; and two levels among some */
	check_changes((const char *[]){"ja", "jb", "jc", "jd", "0e", "0f", "jg", "jh", "ji", "jj",
				       "nj", "0k ja", "0k jb", NULL},
		      0);
	check_changes((const char *[]){"ja", "jb", "jc", "jd", "0e", "0f", "jg", "jh", "ji", "jj",
				       "0j", NULL},
		      1);
	check_changes((const char *[]){"0j", "ja", "jb", "jc", "jd", "0e", "0f", "jg", "jh", "ji",
				       "jj", NULL},
		      1);
}

/* More siblings than are compared one by one. Equal names below two callers are no siblings. */
static void levels_of_many_siblings_are_found(void **state)
{
	enum { MANY = 60 };
	static char words[2 * MANY][16];
	const char *stacks[2 * MANY + 2] = {NULL};

	for (int i = 0; i < MANY; i++) {
		snprintf(words[i], sizeof(words[i]), "ja jm%d", i);
		snprintf(words[MANY + i], sizeof(words[i]), "jb jm%d", i);
		stacks[i] = words[i];
		stacks[MANY + i] = words[MANY + i];
	}
	check_changes(stacks, 0);
	stacks[2 * MANY] = "ja 0m0"; /* the newest; the oldest one is its twin */
	check_changes(stacks, 1);
}

/* More names than are remembered, each of them at two places, with lines of their own. */
static void each_of_many_names_stays_itself(void **state)
{
	enum { NAMES = 9000 };
	char text[16];

	for (uint32_t i = 0; i < 2 * NAMES; i++) {
		const struct frame frames[] = {
			{.name = text,
			 .module = i % 3 ? "x" : NULL,
			 .line = i < 1000 ? 1 + i : 1,
			 .kind = FRAME_JIT},
			{.name = i % 2 ? "one" : "other", .kind = FRAME_LABEL},
		};

		snprintf(text, sizeof(text), "m%u", i / 2);
		assert_int_equal(profile_add(&profile, frames, 2, 1), 0);
	}
	reshape(true, false);
	check_unchanged();
}

static void all_below_a_java_method_is_its_own(void **state)
{
	add("#app nclone3 vcall_stub jrun vUnsafe ncopy", 4);
	add("#app nclone3 vcall_stub jrun kread kvfs", 3);
	add("#app nclone3 vcall_stub jrun vupcall jback", 2);
	add("#app nclone3 vcall_stub", 1);
	add("#app nclone3 vCompileBroker::loop vC2", 7);
	add("#app nclone3 vWorkerThread::run vmark", 6);
	add("#app nclone3 kread", 5);
	reshape(true, true);
	check("app", 0, 28);
	check("app/run", 7, 9);
	check("app/run/back", 2, 2);
	check("app/[JIT compiler]", 7, 7);
	check("app/[GC]", 6, 6);
	check("app/[no Java method]", 6, 6);
	assert_int_equal(find("app/clone3"), 0);
}

static void java_only_keeps_why_a_thread_waits(void **state)
{
	add("#app jmain npark kfutex z[blocked]", 1);
	add("#app nstart vGangWorker::loop kfutex z[blocked]", 2);
	add("#app z[runnable]", 4);
	reshape(true, true);
	check("app/main/[blocked]", 1, 1);
	check("app/[GC]/[blocked]", 2, 2);
	check("app/[runnable]", 4, 4);
}

static void java_only_keeps_the_class_of_an_object(void **state)
{
	add("#app jmain jgrow sarraycopy vpost_alloc cbyte[]", 1);
	add("#app jmain jgrow cbyte[]", 2);
	add("#app nstart vJavaThread::run vpost_alloc cjava.lang.Thread", 4);
	reshape(true, true);
	check("app/main/grow/byte[]", 3, 3);
	check("app/[no Java method]/java.lang.Thread", 4, 4);
}

static void the_class_of_an_object_is_of_no_framework(void **state)
{
	add("#app jorg/springframework/A.a jorg/springframework/B.b corg.springframework.C", 3);
	reshape_as(&(struct reshape_options){.merges_levels = true, .folds_frameworks = true});
	check("app/[Spring: 2 frames]/org.springframework.C", 3, 3);
}

static void java_only_can_keep_levels_apart(void **state)
{
	add("#app 0work nf", 1);
	add("#app jwork kg", 1);
	reshape(false, true);
	assert_int_equal(reshaped.profile.count, 4);
}

static void starts_of_threads_are_left_out(void **state)
{
	add("#app @exec nclone3 vrun scall_stub jwork", 4);
	add("#app @exec nclone3 vother scall_stub 1work vx scall_stub jback", 3);
	add("#app @exec nclone3", 1);
	add("#app nclone3 vrun vmark", 2);
	reshape_as(&(struct reshape_options){.merges_levels = true, .hides_starts = true});
	check("app", 0, 10);
	check("app/exec", 1, 8);
	check("app/exec/work", 4, 7);
	check("app/exec/work/x/call_stub/back", 3, 3);
	check("app/clone3/run/mark", 2, 2);
	reshape_as(&(struct reshape_options){.java_only = true, .hides_starts = true});
	check("app/exec", 1, 8);
	reshape(true, false);
	check("app/exec/clone3/run/call_stub/work", 4, 4);
}

static void a_run_of_frameworks_is_one(void **state)
{
	add("#app jjava.lang.Thread.run jorg.springframework.A jjava.util.B jorg.apache.tomcat.C "
	    "jshop.D jjava.util.B",
	    4);
	add("#app jjava.lang.Thread.run jorg.springframework.A", 3);
	add("#app jjava.lang.Thread.run 1org.apache.tomcat.C nread", 2);
	add("#app jshop.D jio.netty.E jshop.F", 1);
	add("#app nio.netty.E", 1);
	reshape_as(&(struct reshape_options){.merges_levels = true, .folds_frameworks = true});
	check("app/java.lang.Thread.run/[Spring, Tomcat, JDK: 3 frames]", 3, 9);
	check("app/java.lang.Thread.run/[Spring, Tomcat, JDK: 3 frames]/shop.D/java.util.B", 4, 4);
	check("app/java.lang.Thread.run/[Spring, Tomcat, JDK: 3 frames]/read", 2, 2);
	check("app/shop.D/[Netty: 1 frame]/shop.F", 1, 1);
	check("app/io.netty.E", 1, 1);
	assert_int_equal(reshaped.profile.nodes[find("app/shop.D/[Netty: 1 frame]")].kind,
			 FRAME_LABEL);
	reshape_as(&(struct reshape_options){
		.java_only = true, .folds_frameworks = true, .is_compared = true});
	check("app/java.lang.Thread.run/[frameworks]", 5, 9);
}

static void the_timeline_follows(void **state)
{
	const struct timeline_process process = {.pid = 1, .title = "app"};
	const uint32_t leaves[] = {add("#app 0work", 1), add("#app jwork", 1)};
	struct timeline timeline, moved;
	struct timeline_thread thread = {.tid = 1, .name = "main"};

	timeline_init(&timeline, 0);
	thread.process = timeline_process(&timeline, &process);
	for (size_t i = 0; i < 2; i++)
		timeline_add(&timeline, 0,
			     &(struct timeline_entry){.thread = timeline_thread(&timeline, &thread),
						      .node = leaves[i],
						      .weight = 1});
	reshape(true, false);
	assert_int_equal(reshape_timeline(&reshaped, &timeline, &moved), 0);
	assert_int_equal(moved.n_entries, 1);
	assert_int_equal(moved.entries[0].node, find("app/work"));
	assert_int_equal(moved.entries[0].weight, 2);
	assert_int_equal(timeline.n_entries, 2);
	free(moved.entries);
	timeline.entries[0].node = 4711; /* as a file may say */
	assert_int_equal(reshape_timeline(&reshaped, &timeline, &moved), 0);
	assert_int_equal(moved.n_entries, 2);
	assert_int_equal(moved.entries[1].node, UINT32_MAX);
	free(moved.entries);
	timeline_fini(&timeline);
}

#define CLAIM(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(a_method_is_one_whatever_it_was_compiled_to),
		CLAIM(a_kind_that_is_alone_stays),
		CLAIM(a_tree_without_a_method_of_two_levels_does_not_change),
		CLAIM(levels_of_many_siblings_are_found),
		CLAIM(each_of_many_names_stays_itself),
		CLAIM(all_below_a_java_method_is_its_own),
		CLAIM(java_only_keeps_why_a_thread_waits),
		CLAIM(java_only_keeps_the_class_of_an_object),
		CLAIM(the_class_of_an_object_is_of_no_framework),
		CLAIM(java_only_can_keep_levels_apart),
		CLAIM(starts_of_threads_are_left_out),
		CLAIM(a_run_of_frameworks_is_one),
		CLAIM(the_timeline_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
