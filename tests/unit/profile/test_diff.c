// SPDX-License-Identifier: Apache-2.0
/* Two profiles as one tree: counts, widths, changes and when they are noise. */
#include "profile/diff.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
	struct profile before;
	struct profile after;
	struct profile_diff diff;
};

static int setup(void **state)
{
	struct fixture *const fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	assert_int_equal(profile_init(&fixture->before, 0), 0);
	assert_int_equal(profile_init(&fixture->after, 0), 0);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *const fixture = *state;

	profile_fini(&fixture->before);
	profile_fini(&fixture->after);
	diff_fini(&fixture->diff);
	free(fixture);
	return 0;
}

/* Letters are frames, root first: "abc". */
static void add(struct profile *profile, const char *stack, enum frame_kind kind, uint64_t weight)
{
	char names[16][2] = {{0}};
	struct frame frames[16];
	const size_t n = strlen(stack);

	for (size_t i = 0; i < n; i++) {
		names[i][0] = stack[n - 1 - i];
		frames[i] = (struct frame){.name = names[i], .kind = kind};
	}
	assert_int_equal(profile_add(profile, frames, n, weight), 0);
}

static void compare(struct fixture *fixture, struct diff_options options)
{
	diff_fini(&fixture->diff);
	assert_int_equal(diff_init(&fixture->diff, &fixture->before, &fixture->after, &options), 0);
}

static uint32_t find(const struct profile_diff *diff, const char *path)
{
	uint32_t id = PROFILE_ROOT;

	for (; *path; path++) {
		id = diff->tree.nodes[id].first_child;
		while (id && diff->tree.nodes[id].name[0] != *path)
			id = diff->tree.nodes[id].next_sibling;
		assert_int_not_equal(id, 0);
	}
	return id;
}

static void each_node_has_both_counts(void **state)
{
	struct fixture *const fixture = *state;
	const struct diff_counts *counts;

	add(&fixture->before, "ab", FRAME_NATIVE, 3);
	add(&fixture->before, "ac", FRAME_NATIVE, 5);
	add(&fixture->after, "ab", FRAME_NATIVE, 7);
	add(&fixture->after, "abd", FRAME_NATIVE, 11);
	compare(fixture, (struct diff_options){0});
	counts = &fixture->diff.nodes[find(&fixture->diff, "ab")];
	assert_int_equal(counts->self[DIFF_BEFORE], 3);
	assert_int_equal(counts->self[DIFF_AFTER], 7);
	assert_int_equal(counts->total[DIFF_AFTER], 18);
	counts = &fixture->diff.nodes[PROFILE_ROOT];
	assert_int_equal(counts->total[DIFF_BEFORE], 8);
	assert_int_equal(counts->total[DIFF_AFTER], 18);
	assert_int_equal(fixture->diff.nodes[find(&fixture->diff, "ac")].total[DIFF_AFTER], 0);
}

static void check_widths(struct fixture *fixture, struct diff_options options, uint64_t ab,
			 uint64_t ac)
{
	compare(fixture, options);
	assert_int_equal(fixture->diff.tree.nodes[find(&fixture->diff, "ab")].total, ab);
	assert_int_equal(fixture->diff.tree.nodes[find(&fixture->diff, "ac")].total, ac);
	assert_int_equal(fixture->diff.tree.nodes[PROFILE_ROOT].total, ab + ac);
}

static void widths_are_of_the_side_asked_for(void **state)
{
	struct fixture *const fixture = *state;

	add(&fixture->before, "ab", FRAME_NATIVE, 30);
	add(&fixture->before, "ac", FRAME_NATIVE, 20);
	add(&fixture->after, "ab", FRAME_NATIVE, 100);
	check_widths(fixture, (struct diff_options){DIFF_WIDTH_AFTER, false, false, 0}, 100, 0);
	check_widths(fixture, (struct diff_options){DIFF_WIDTH_BEFORE, false, false, 0}, 30, 20);
	check_widths(fixture, (struct diff_options){DIFF_WIDTH_UNION, false, false, 0}, 100, 40);
	check_widths(fixture, (struct diff_options){DIFF_WIDTH_UNION, true, false, 0}, 100, 20);
}

static bool is_near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void changes_are_of_shares_unless_raw(void **state)
{
	struct fixture *const fixture = *state;
	const uint64_t *total;

	add(&fixture->before, "a", FRAME_NATIVE, 10);
	add(&fixture->before, "b", FRAME_NATIVE, 30);
	add(&fixture->after, "a", FRAME_NATIVE, 40);
	add(&fixture->after, "b", FRAME_NATIVE, 40);
	compare(fixture, (struct diff_options){0});
	total = fixture->diff.nodes[find(&fixture->diff, "a")].total;
	assert_true(is_near(diff_change(&fixture->diff, total), 0.5 - 0.25));
	assert_true(is_near(diff_change(&fixture->diff, fixture->diff.nodes[0].total), 0));
	compare(fixture, (struct diff_options){.is_raw = true});
	total = fixture->diff.nodes[find(&fixture->diff, "a")].total;
	assert_true(is_near(diff_change(&fixture->diff, total), 30.0 / 80));
}

/* p = 150/2000; sqrt(p (1 - p) 2/1000) = 0.011779; 0.05 / that = 4.2447 */
static void z_is_that_of_two_proportions(void **state)
{
	struct fixture *const fixture = *state;
	double z;

	add(&fixture->before, "a", FRAME_NATIVE, 50);
	add(&fixture->before, "b", FRAME_NATIVE, 950);
	add(&fixture->after, "a", FRAME_NATIVE, 100);
	add(&fixture->after, "b", FRAME_NATIVE, 900);
	compare(fixture, (struct diff_options){0});
	z = diff_z(&fixture->diff, fixture->diff.nodes[find(&fixture->diff, "a")].total);
	assert_true(fabs(z - 4.2447) < 1e-3);
	compare(fixture, (struct diff_options){.is_raw = true});
	z = diff_z(&fixture->diff, fixture->diff.nodes[find(&fixture->diff, "a")].total);
	assert_true(is_near(z, 50 / sqrt(150)));
}

/* A hundred times the weight is no more samples if a sample weighs a hundred. */
static void z_is_of_samples_whatever_they_weigh(void **state)
{
	struct fixture *const fixture = *state;
	const uint64_t *total;

	add(&fixture->before, "a", FRAME_NATIVE, 5000);
	add(&fixture->before, "b", FRAME_NATIVE, 95000);
	add(&fixture->after, "a", FRAME_NATIVE, 10000);
	add(&fixture->after, "b", FRAME_NATIVE, 90000);
	compare(fixture, (struct diff_options){.sample_weight = 100});
	total = fixture->diff.nodes[find(&fixture->diff, "a")].total;
	assert_true(fabs(diff_z(&fixture->diff, total) - 4.2447) < 1e-3);
	compare(fixture, (struct diff_options){.sample_weight = 100, .is_raw = true});
	total = fixture->diff.nodes[find(&fixture->diff, "a")].total;
	assert_true(is_near(diff_z(&fixture->diff, total), 50 / sqrt(150)));
}

static void small_changes_are_noise(void **state)
{
	struct fixture *const fixture = *state;

	add(&fixture->before, "a", FRAME_NATIVE, 5);
	add(&fixture->before, "b", FRAME_NATIVE, 95);
	add(&fixture->after, "a", FRAME_NATIVE, 10);
	add(&fixture->after, "b", FRAME_NATIVE, 90);
	compare(fixture, (struct diff_options){0});
	assert_true(diff_is_noise(&fixture->diff,
				  fixture->diff.nodes[find(&fixture->diff, "a")].total));
	add(&fixture->after, "a", FRAME_NATIVE, 30);
	compare(fixture, (struct diff_options){0});
	assert_false(diff_is_noise(&fixture->diff,
				   fixture->diff.nodes[find(&fixture->diff, "a")].total));
}

static void method_compiled_otherwise_is_the_same_unless_asked(void **state)
{
	struct fixture *const fixture = *state;

	add(&fixture->before, "a", FRAME_JIT, 1);
	add(&fixture->before, "a", FRAME_INTERPRETED, 2);
	add(&fixture->after, "a", FRAME_INLINED, 4);
	compare(fixture, (struct diff_options){0});
	assert_int_equal(fixture->diff.tree.count, 2);
	assert_int_equal(fixture->diff.nodes[1].self[DIFF_BEFORE], 3);
	assert_int_equal(fixture->diff.nodes[1].self[DIFF_AFTER], 4);
	compare(fixture, (struct diff_options){.splits_kinds = true});
	assert_int_equal(fixture->diff.tree.count, 4);
}

static void methods_count_recursion_once_and_are_ordered_by_change(void **state)
{
	struct fixture *const fixture = *state;
	struct diff_method *methods;
	size_t n;

	add(&fixture->before, "aba", FRAME_NATIVE, 10);
	add(&fixture->before, "c", FRAME_NATIVE, 10);
	add(&fixture->after, "aba", FRAME_NATIVE, 10);
	add(&fixture->after, "ab", FRAME_NATIVE, 90);
	add(&fixture->after, "c", FRAME_NATIVE, 100);
	compare(fixture, (struct diff_options){0});
	assert_int_equal(diff_methods(&fixture->diff, &methods, &n), 0);
	assert_int_equal(n, 3);
	assert_string_equal(methods[0].name, "a"); /* 50 % to 5 % and 0 to 45 %: then by total */
	assert_string_equal(methods[1].name, "b");
	assert_string_equal(methods[2].name, "c");
	assert_int_equal(methods[0].counts.total[DIFF_AFTER], 100);
	assert_int_equal(methods[0].counts.self[DIFF_AFTER], 10);
	free(methods);
}

/* Both have the same change of their own samples; b's callees change, too. */
static void equal_changes_are_ordered_by_callees(void **state)
{
	struct fixture *const fixture = *state;
	struct diff_method *methods;
	size_t n;

	add(&fixture->before, "a", FRAME_NATIVE, 10);
	add(&fixture->before, "b", FRAME_NATIVE, 10);
	add(&fixture->before, "z", FRAME_NATIVE, 80);
	add(&fixture->after, "a", FRAME_NATIVE, 20);
	add(&fixture->after, "b", FRAME_NATIVE, 20);
	add(&fixture->after, "bz", FRAME_NATIVE, 40);
	add(&fixture->after, "z", FRAME_NATIVE, 20);
	compare(fixture, (struct diff_options){0});
	assert_int_equal(diff_methods(&fixture->diff, &methods, &n), 0);
	assert_int_equal(n, 3);
	assert_string_equal(methods[0].name, "z");
	assert_string_equal(methods[1].name, "b");
	assert_string_equal(methods[2].name, "a");
	free(methods);
}

static void nodes_keep_their_places(void **state)
{
	const struct frame f = {.name = "f",
				.module = "libx.so",
				.file = "x.c",
				.line = 7,
				.kind = FRAME_NATIVE,
				.build_id = "c0ffee"};
	struct fixture *const fixture = *state;
	const struct profile_node *node;

	assert_int_equal(profile_add(&fixture->before, &f, 1, 1), 0);
	assert_int_equal(profile_add(&fixture->after, &f, 1, 1), 0);
	compare(fixture, (struct diff_options){0});
	node = &fixture->diff.tree.nodes[1];
	assert_string_equal(node->module, "libx.so");
	assert_string_equal(profile_build_id(node->module), "c0ffee");
	assert_string_equal(node->file, "x.c");
	assert_int_equal(node->line, 7);
}

/* What both sides have of a place is forgotten where the sides differ. */
static void lines_and_builds_that_differ_are_forgotten(void **state)
{
	struct frame f = {.name = "f", .module = "libx.so", .line = 7, .build_id = "c0ffee"};
	struct fixture *const fixture = *state;
	const struct profile_node *node;

	assert_int_equal(profile_add(&fixture->before, &f, 1, 1), 0);
	f.line = 8;
	f.build_id = "decaf0";
	assert_int_equal(profile_add(&fixture->after, &f, 1, 1), 0);
	compare(fixture, (struct diff_options){0});
	assert_int_equal(fixture->diff.tree.count, 2);
	node = &fixture->diff.tree.nodes[1];
	assert_string_equal(node->module, "libx.so");
	assert_null(profile_build_id(node->module));
	assert_int_equal(node->line, 0);
}

static void add_random(struct profile *profile, unsigned *seed)
{
	static const char *const names[] = {"a", "b", "c", "ab", "d"};
	static const enum frame_kind kinds[] = {FRAME_JIT, FRAME_INLINED, FRAME_NATIVE};
	struct frame frames[6];
	const size_t n = (size_t)rand_r(seed) % 7;

	for (size_t i = 0; i < n; i++)
		frames[i] = (struct frame){.name = names[rand_r(seed) % 5],
					   .kind = kinds[rand_r(seed) % 3]};
	assert_int_equal(profile_add(profile, frames, n, 1 + (uint64_t)rand_r(seed) % 9), 0);
}

/* The node of a diff's tree at which a node of a side is to be found. */
static uint32_t find_alike(const struct profile_diff *diff, const struct profile *side, uint32_t id)
{
	const struct profile_node *const node = &side->nodes[id];
	const bool is_java = frame_kind_is_java((enum frame_kind)node->kind);
	uint32_t found = 0, parent;

	if (id == PROFILE_ROOT)
		return PROFILE_ROOT;
	parent = find_alike(diff, side, node->parent);
	for (uint32_t child = diff->tree.nodes[parent].first_child; child;
	     child = diff->tree.nodes[child].next_sibling) {
		const struct profile_node *const other = &diff->tree.nodes[child];
		const bool is_kind = is_java && !diff->options.splits_kinds
					     ? frame_kind_is_java((enum frame_kind)other->kind)
					     : other->kind == node->kind;

		if (!is_kind || strcmp(other->name, node->name) != 0)
			continue;
		assert_int_equal(found, 0);
		found = child;
	}
	assert_int_not_equal(found, 0);
	return found;
}

/* Takes what a side has from what the diff counts of that side. */
static void take_side(struct profile_diff *diff, const struct profile *side, int which)
{
	for (uint32_t id = 0; id < side->count; id++)
		diff->nodes[find_alike(diff, side, id)].self[which] -= side->nodes[id].self;
}

static void any_two_trees_are_joined_node_by_node(void **state)
{
	struct fixture *const fixture = *state;
	unsigned seed = 1;

	for (int round = 0; round < 200; round++) {
		profile_fini(&fixture->before);
		profile_fini(&fixture->after);
		assert_int_equal(profile_init(&fixture->before, 0), 0);
		assert_int_equal(profile_init(&fixture->after, 0), 0);
		for (int i = 0; i < round / 2; i++) {
			add_random(&fixture->before, &seed);
			add_random(&fixture->after, &seed);
		}
		compare(fixture, (struct diff_options){.splits_kinds = round % 2});
		take_side(&fixture->diff, &fixture->before, DIFF_BEFORE);
		take_side(&fixture->diff, &fixture->after, DIFF_AFTER);
		for (uint32_t id = 0; id < fixture->diff.tree.count; id++) {
			const struct diff_counts *const counts = &fixture->diff.nodes[id];

			assert_int_equal(counts->self[DIFF_BEFORE] | counts->self[DIFF_AFTER], 0);
			assert_int_not_equal(
				counts->total[DIFF_BEFORE] + counts->total[DIFF_AFTER] + !id, 0);
		}
	}
}

/* A label and a function on it, by their letters. */
static void add_labelled(struct profile *profile, const char *label, const char *function)
{
	const struct frame frames[] = {{.name = function, .kind = FRAME_NATIVE},
				       {.name = label, .kind = FRAME_LABEL}};

	assert_int_equal(profile_add(profile, frames, 2, 1), 0);
}

static void the_only_process_of_each_side_is_one_box_with_the_later_name(void **state)
{
	struct fixture *const fixture = *state;
	const struct diff_counts *counts;

	add_labelled(&fixture->before, "x", "a");
	add_labelled(&fixture->after, "y", "a");
	add_labelled(&fixture->after, "y", "b");
	compare(fixture, (struct diff_options){.width = DIFF_WIDTH_UNION});
	counts = &fixture->diff.nodes[find(&fixture->diff, "ya")];
	assert_int_equal(counts->self[DIFF_BEFORE], 1);
	assert_int_equal(counts->self[DIFF_AFTER], 1);
	assert_int_equal(fixture->diff.tree.count, 4);
}

static void of_several_processes_each_is_itself(void **state)
{
	struct fixture *const fixture = *state;

	add_labelled(&fixture->before, "x", "a");
	add_labelled(&fixture->after, "y", "a");
	add_labelled(&fixture->after, "z", "a");
	compare(fixture, (struct diff_options){.width = DIFF_WIDTH_UNION});
	assert_int_equal(fixture->diff.nodes[find(&fixture->diff, "xa")].self[DIFF_AFTER], 0);
	assert_int_equal(fixture->diff.nodes[find(&fixture->diff, "ya")].self[DIFF_BEFORE], 0);
	assert_int_equal(fixture->diff.tree.count, 7);
}

static void empty_sides_divide_by_nothing(void **state)
{
	struct fixture *const fixture = *state;
	uint64_t none[DIFF_SIDES] = {0, 0};

	compare(fixture, (struct diff_options){0});
	assert_true(diff_change(&fixture->diff, none) == 0);
	assert_true(diff_z(&fixture->diff, none) == 0);
	add(&fixture->after, "a", FRAME_NATIVE, 1);
	compare(fixture, (struct diff_options){.width = DIFF_WIDTH_UNION});
	assert_true(diff_z(&fixture->diff, fixture->diff.nodes[1].total) == 0);
	assert_true(is_near(diff_change(&fixture->diff, fixture->diff.nodes[1].total), 1));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_node_has_both_counts),
		TEST(widths_are_of_the_side_asked_for),
		TEST(changes_are_of_shares_unless_raw),
		TEST(z_is_that_of_two_proportions),
		TEST(z_is_of_samples_whatever_they_weigh),
		TEST(small_changes_are_noise),
		TEST(method_compiled_otherwise_is_the_same_unless_asked),
		TEST(methods_count_recursion_once_and_are_ordered_by_change),
		TEST(equal_changes_are_ordered_by_callees),
		TEST(nodes_keep_their_places),
		TEST(lines_and_builds_that_differ_are_forgotten),
		TEST(any_two_trees_are_joined_node_by_node),
		TEST(the_only_process_of_each_side_is_one_box_with_the_later_name),
		TEST(of_several_processes_each_is_itself),
		TEST(empty_sides_divide_by_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
