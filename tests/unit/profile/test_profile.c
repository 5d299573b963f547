// SPDX-License-Identifier: Apache-2.0
/* The call tree: merging, weights, the node cap. */
#include "profile/profile.h"
#include "path.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DEEP 100000

static struct frame frame(const char *name, enum frame_kind kind)
{
	return (struct frame){.name = name, .kind = kind};
}

/* Adds a stack given root first as "a;b;c", all of one kind. */
static void add(struct profile *profile, const char *stack, enum frame_kind kind, uint64_t weight)
{
	struct frame frames[64];
	char text[256];
	size_t n = 0;

	snprintf(text, sizeof(text), "%s", stack);
	for (char *end = text + strlen(text); end; n++) {
		char *const semicolon = strrchr(text, ';');

		frames[n] = frame(semicolon ? semicolon + 1 : text, kind);
		if (semicolon)
			*semicolon = '\0';
		end = semicolon;
	}
	assert_int_equal(profile_add(profile, frames, n, weight), 0);
}

/* Adds f of libx.so, of that build, below nothing. */
static void add_build(struct profile *profile, const char *build_id)
{
	const struct frame f = {
		.name = "f", .module = "libx.so", .kind = FRAME_NATIVE, .build_id = build_id};

	assert_int_equal(profile_add(profile, &f, 1, 1), 0);
}

/* What the header promises of every tree. */
static void check_invariants(const struct profile *profile)
{
	uint64_t self = 0;

	assert_true(profile->count <= profile->max_nodes);
	for (uint32_t id = 0; id < profile->count; id++) {
		const struct profile_node *const node = &profile->nodes[id];
		uint64_t below = node->self;

		assert_true(id == 0 || node->parent < id);
		for (uint32_t c = node->first_child; c; c = profile->nodes[c].next_sibling)
			below += profile->nodes[c].total;
		assert_int_equal(below, node->total);
		self += node->self;
	}
	assert_int_equal(self, profile->nodes[0].total);
	assert_int_equal(self, profile->quality.samples);
}

static int setup(void **state)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	*state = profile;
	return profile ? profile_init(profile, 0) : -1;
}

static int teardown(void **state)
{
	struct profile *const profile = *state;

	check_invariants(profile);
	profile_fini(profile);
	free(profile);
	return 0;
}

static void restart(struct profile *profile, uint32_t max_nodes)
{
	profile_fini(profile);
	assert_int_equal(profile_init(profile, max_nodes), 0);
}

static void equal_stacks_are_merged(void **state)
{
	struct profile *const profile = *state;

	add(profile, "a;b;c", FRAME_JIT, 2);
	add(profile, "a;b", FRAME_JIT, 3);
	add(profile, "a;b;c", FRAME_JIT, 5);
	assert_int_equal(profile->count, 4);
	path_check(profile, "", 0, 10);
	path_check(profile, "a", 0, 10);
	path_check(profile, "a/b", 3, 10);
	path_check(profile, "a/b/c", 7, 7);
}

static void one_name_of_two_kinds_is_two_nodes(void **state)
{
	struct profile *const profile = *state;

	add(profile, "m", FRAME_JIT, 1);
	add(profile, "m", FRAME_INTERPRETED, 1);
	assert_int_equal(profile->count, 3);
}

static void names_outlive_their_source(void **state)
{
	struct profile *const profile = *state;
	char name[] = "method";
	char module[] = "libx.so";
	struct frame frames[] = {{.name = name, .module = module, .kind = FRAME_NATIVE}};

	assert_int_equal(profile_add(profile, frames, 1, 1), 0);
	memset(name, 'x', sizeof(name) - 1);
	memset(module, 'y', sizeof(module) - 1);
	assert_string_equal(profile->nodes[1].name, "method");
	assert_string_equal(profile->nodes[1].module, "libx.so");
}

static void a_stack_without_room_for_its_weight_is_not_counted(void **state)
{
	struct profile *const profile = *state;
	const struct frame f = {.name = "f", .kind = FRAME_JIT};

	assert_int_equal(profile_add(profile, &f, 1, UINT64_MAX - 1), 0);
	assert_int_equal(profile_add(profile, &f, 1, 2), -EOVERFLOW);
	assert_int_equal(profile_add(profile, &f, 1, 1), 0);
	path_check(profile, "f", UINT64_MAX, UINT64_MAX);
}

static void empty_stack_grows_the_root(void **state)
{
	struct profile *const profile = *state;

	assert_int_equal(profile_add(profile, NULL, 0, 4), 0);
	assert_string_equal(profile->nodes[0].name, "all");
	path_check(profile, "", 4, 4);
}

static void no_weight_makes_no_node(void **state)
{
	struct profile *const profile = *state;

	add(profile, "a;b", FRAME_JIT, 0);
	assert_int_equal(profile->count, 1);
}

static void recursion_is_kept(void **state)
{
	struct profile *const profile = *state;

	add(profile, "f;f;f", FRAME_JIT, 1);
	assert_int_equal(profile->count, 4);
	path_check(profile, "f/f/f", 1, 1);
}

static void unknown_frames_count_once_a_stack(void **state)
{
	struct profile *const profile = *state;

	add(profile, "[unknown: x];[unknown: y]", FRAME_UNKNOWN, 3);
	add(profile, "known", FRAME_JIT, 2);
	assert_int_equal(profile->quality.unnamed_samples, 3);
	assert_int_equal(profile->quality.samples, 5);
}

static void many_children_are_found_again(void **state)
{
	struct profile *const profile = *state;
	char name[32];

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 50000; i++) {
			const struct frame one = frame(name, FRAME_JIT);

			snprintf(name, sizeof(name), "method%d", i);
			assert_int_equal(profile_add(profile, &one, 1, 1), 0);
		}
	assert_int_equal(profile->count, 50001);
	path_check(profile, "method49999", 2, 2);
}

static void deep_stack_is_added(void **state)
{
	struct profile *const profile = *state;
	struct frame *frames = calloc(DEEP, sizeof(*frames));

	assert_non_null(frames);
	for (size_t i = 0; i < DEEP; i++)
		frames[i] = frame("f", FRAME_JIT);
	assert_int_equal(profile_add(profile, frames, DEEP, 1), 0);
	assert_int_equal(profile->count, DEEP + 1);
	free(frames);
}

static void full_tree_cuts_at_overflow_where_the_path_ends(void **state)
{
	struct profile *const profile = *state;
	char stack[64];

	restart(profile, 100);
	add(profile, "known;path", FRAME_JIT, 1);
	for (int i = 0; profile->count < 93; i++) {
		snprintf(stack, sizeof(stack), "filler%d", i);
		add(profile, stack, FRAME_JIT, 1);
	}
	add(profile, "known;path;new;newer", FRAME_JIT, 7);
	path_check(profile, "known/path/[overflow]", 7, 7);
	assert_int_equal(profile->nodes[path_find(profile, "known/path/[overflow]")].kind,
			 FRAME_LABEL);
	assert_int_equal(profile->quality.overflow_samples, 7);
	add(profile, "known;path;other", FRAME_JIT, 2);
	path_check(profile, "known/path/[overflow]", 9, 9);
}

static void full_tree_still_grows_known_stacks(void **state)
{
	struct profile *const profile = *state;

	restart(profile, 4);
	add(profile, "a;b", FRAME_JIT, 1);
	add(profile, "c;d", FRAME_JIT, 1);
	add(profile, "a;b", FRAME_JIT, 5);
	path_check(profile, "a/b", 6, 6);
	assert_int_equal(profile->quality.overflow_samples, 1);
}

static void overflow_without_room_goes_to_the_nearest_ancestor(void **state)
{
	struct profile *const profile = *state;
	char stack[64];

	restart(profile, 64);
	for (int i = 0; i < 200; i++) {
		snprintf(stack, sizeof(stack), "a;b%d;c%d", i % 20, i);
		add(profile, stack, FRAME_JIT, 1);
	}
	add(profile, "elsewhere", FRAME_JIT, 3);
	assert_int_equal(profile->count, 64);
	assert_int_not_equal(path_find(profile, "[overflow]"), 0);
	assert_int_equal(profile->nodes[0].total, 203);
}

static void full_tree_keeps_no_new_names(void **state)
{
	struct profile *const profile = *state;
	char stack[64];
	size_t names;

	restart(profile, 8);
	for (int i = 0; i < 20; i++) {
		snprintf(stack, sizeof(stack), "a;m%d", i);
		add(profile, stack, FRAME_JIT, 1);
	}
	names = profile->names.count;
	for (int i = 20; i < 1000; i++) {
		snprintf(stack, sizeof(stack), "a;m%d", i);
		add(profile, stack, FRAME_JIT, 1);
	}
	assert_int_equal(profile->names.count, names);
}

static void smallest_cap_still_keeps_all_weight(void **state)
{
	struct profile *const profile = *state;

	restart(profile, 1);
	add(profile, "a;b", FRAME_JIT, 2);
	add(profile, "c", FRAME_JIT, 3);
	path_check(profile, "[overflow]", 5, 5);
}

/* "a;b;c" by the calls for readers; true where the stack was cut. */
static bool follow(struct profile *profile, const char *stack, uint64_t weight)
{
	uint32_t id = PROFILE_ROOT;
	char text[256];
	char *rest;
	int rc = 0;

	snprintf(text, sizeof(text), "%s", stack);
	for (char *name = strtok_r(text, ";", &rest); name && rc == 0;
	     name = strtok_r(NULL, ";", &rest)) {
		const struct frame wanted = frame(name, FRAME_NATIVE);
		struct profile_name kept;

		assert_int_equal(profile_keep_name(profile, &wanted, &kept), 0);
		rc = profile_descend(profile, &kept, &id);
		assert_true(rc >= 0);
	}
	assert_int_equal(profile_count(profile, id, weight), 0);
	return rc == 1;
}

static void path_followed_is_the_stack_added(void **state)
{
	struct profile *const profile = *state;

	add(profile, "a;b", FRAME_NATIVE, 1);
	assert_false(follow(profile, "a;b", 2));
	assert_false(follow(profile, "a;b;c", 4));
	profile_sum(profile);
	path_check(profile, "a", 0, 7);
	path_check(profile, "a/b", 3, 7);
	path_check(profile, "a/b/c", 4, 4);
	assert_int_equal(profile->nodes[PROFILE_ROOT].total, 7);
	assert_int_equal(profile->quality.samples, 7);
}

static void sum_of_weights_cannot_overflow(void **state)
{
	struct profile *const profile = *state;

	assert_int_equal(profile_count(profile, PROFILE_ROOT, UINT64_MAX - 1), 0);
	assert_int_equal(profile_count(profile, PROFILE_ROOT, 2), -EOVERFLOW);
	assert_int_equal(profile->quality.samples, UINT64_MAX - 1);
	profile_sum(profile);
}

static void path_is_cut_at_the_cap_too(void **state)
{
	struct profile *const profile = *state;
	char stack[16];
	uint64_t cut = 0;

	profile_fini(profile);
	assert_int_equal(profile_init(profile, 64), 0);
	for (int i = 0; i < 1000; i++) {
		snprintf(stack, sizeof(stack), "a;%d", i);
		cut += follow(profile, stack, 1);
	}
	profile_sum(profile);
	assert_true(profile->count <= 64);
	assert_int_equal(profile->nodes[PROFILE_ROOT].total, 1000);
	path_check(profile, "a/[overflow]", cut, cut);
}

static void reversed_stacks_begin_with_their_leaf(void **state)
{
	struct profile *const profile = *state;
	struct profile reversed;

	add(profile, "a;b;c", FRAME_NATIVE, 1);
	add(profile, "x;c", FRAME_NATIVE, 2);
	add(profile, "a", FRAME_NATIVE, 4);
	assert_int_equal(profile_init(&reversed, 0), 0);
	assert_int_equal(profile_add_reversed(&reversed, profile), 0);
	path_check(&reversed, "c", 0, 3);
	path_check(&reversed, "c/b/a", 1, 1);
	path_check(&reversed, "c/x", 2, 2);
	path_check(&reversed, "a", 4, 4);
	profile_fini(&reversed);
}

static void quality_is_turned_around_whole(void **state)
{
	const struct profile_quality quality = {.unnamed_samples = 1,
						.unnamed_java_samples = 2,
						.unrooted_samples = 3,
						.truncated_samples = {4, 5},
						.lost_samples = 6,
						.stackless_samples = 7,
						.overflow_samples = 8};
	struct profile profile, reversed;

	assert_int_equal(profile_init(&profile, 0), 0);
	assert_int_equal(profile_init(&reversed, 0), 0);
	profile.quality = quality;
	assert_int_equal(profile_add_reversed(&reversed, &profile), 0);
	assert_memory_equal(&reversed.quality, &quality, sizeof(quality));
	profile_fini(&profile);
	profile_fini(&reversed);
}

static void line_that_is_too_large_is_none(void **state)
{
	const struct frame f = {.name = "f", .line = PROFILE_MAX_LINE + 2, .kind = FRAME_JIT};
	struct profile profile;

	assert_int_equal(profile_init(&profile, 0), 0);
	assert_int_equal(profile_add(&profile, &f, 1, 1), 0);
	assert_int_equal(profile.nodes[1].line, 0);
	profile_fini(&profile);
}

static void module_says_its_build(void **state)
{
	struct profile profile;

	assert_int_equal(profile_init(&profile, 0), 0);
	add_build(&profile, "c0ffee");
	add_build(&profile, "c0ffee");
	assert_string_equal(profile.nodes[1].module, "libx.so");
	assert_string_equal(profile_build_id(profile.nodes[1].module), "c0ffee");
	assert_null(profile_build_id(NULL));
	profile_fini(&profile);
}

static void samples_of_two_builds_have_none(void **state)
{
	static const char *const builds[][2] = {
		{"c0ffee", "beef"}, {"c0ffee", NULL}, {NULL, "beef"}};

	for (size_t i = 0; i < 3; i++) {
		struct profile profile, reversed;

		assert_int_equal(profile_init(&profile, 0), 0);
		assert_int_equal(profile_init(&reversed, 0), 0);
		add_build(&profile, builds[i][0]);
		add_build(&reversed, builds[i][1]);
		assert_int_equal(profile_add_reversed(&reversed, &profile), 0);
		assert_string_equal(reversed.nodes[1].module, "libx.so");
		assert_null(profile_build_id(reversed.nodes[1].module));
		add_build(&profile, builds[i][1]);
		add_build(&profile, builds[i][0]);
		assert_string_equal(profile.nodes[1].module, "libx.so");
		assert_null(profile_build_id(profile.nodes[1].module));
		profile_fini(&profile);
		profile_fini(&reversed);
	}
}

static void build_is_turned_around_with_its_frame(void **state)
{
	struct profile profile, reversed;

	assert_int_equal(profile_init(&profile, 0), 0);
	assert_int_equal(profile_init(&reversed, 0), 0);
	add_build(&profile, "c0ffee");
	assert_int_equal(profile_add_reversed(&reversed, &profile), 0);
	assert_string_equal(profile_build_id(reversed.nodes[1].module), "c0ffee");
	profile_fini(&profile);
	profile_fini(&reversed);
}

/* Each frame that is met looks for a module's end, and files may say anything. */
static void endless_modules_and_builds_are_cut(void **state)
{
	static char module[1 << 20], build_id[PROFILE_MAX_BUILD_ID + 2];
	struct frame f = {.name = "f", .module = module, .build_id = build_id};
	struct profile profile;

	memset(module, 'm', sizeof(module) - 1);
	memset(build_id, 'b', sizeof(build_id) - 1);
	assert_int_equal(profile_init(&profile, 0), 0);
	assert_int_equal(profile_add(&profile, &f, 1, 1), 0);
	assert_int_equal(strlen(profile.nodes[1].module), PROFILE_MAX_MODULE);
	assert_null(profile_build_id(profile.nodes[1].module));
	f.name = "g";
	f.build_id = build_id + 1;
	assert_int_equal(profile_add(&profile, &f, 1, 1), 0);
	assert_int_equal(strlen(profile_build_id(profile.nodes[2].module)), PROFILE_MAX_BUILD_ID);
	profile_fini(&profile);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		test(equal_stacks_are_merged),
		test(one_name_of_two_kinds_is_two_nodes),
		test(names_outlive_their_source),
		test(a_stack_without_room_for_its_weight_is_not_counted),
		test(empty_stack_grows_the_root),
		test(no_weight_makes_no_node),
		test(recursion_is_kept),
		test(unknown_frames_count_once_a_stack),
		test(many_children_are_found_again),
		test(deep_stack_is_added),
		test(full_tree_cuts_at_overflow_where_the_path_ends),
		test(full_tree_still_grows_known_stacks),
		test(overflow_without_room_goes_to_the_nearest_ancestor),
		test(full_tree_keeps_no_new_names),
		test(smallest_cap_still_keeps_all_weight),
		test(path_followed_is_the_stack_added),
		test(sum_of_weights_cannot_overflow),
		test(path_is_cut_at_the_cap_too),
		test(reversed_stacks_begin_with_their_leaf),
		cmocka_unit_test(module_says_its_build),
		cmocka_unit_test(samples_of_two_builds_have_none),
		cmocka_unit_test(build_is_turned_around_with_its_frame),
		cmocka_unit_test(endless_modules_and_builds_are_cut),
		cmocka_unit_test(quality_is_turned_around_whole),
		cmocka_unit_test(line_that_is_too_large_is_none),
	};

	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
