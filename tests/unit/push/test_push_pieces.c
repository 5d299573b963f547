// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about push/push_pieces.h: pieces together are the whole, and no deeper than servers take.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "push/push_pieces.h"

static struct profile whole;
static struct push_stacks stacks;

static int set_up(void **state)
{
	return profile_init(&whole, 0);
}

static int tear_down(void **state)
{
	push_stacks_fini(&stacks);
	profile_fini(&whole);
	return 0;
}

static void add(const char *leaf, const char *root, uint64_t weight)
{
	const struct frame frames[] = {{.name = leaf, .kind = FRAME_JIT},
				       {.name = root, .kind = FRAME_NATIVE}};

	assert_int_equal(profile_add(&whole, frames, 2, weight), 0);
}

static void slice(size_t first, size_t n, struct profile *ret, uint64_t *ret_cut)
{
	*ret_cut = 0;
	assert_int_equal(push_stacks_slice(&stacks, first, n, ret, ret_cut), 0);
}

static void pieces_together_are_the_whole(void **state)
{
	uint64_t sum = 0, cut;

	for (int i = 0; i < 10; i++) {
		char name[8];

		snprintf(name, sizeof(name), "f%d", i);
		add(name, "main", (uint64_t)i + 1);
	}
	assert_int_equal(push_stacks_init(&stacks, &whole), 0);
	assert_int_equal(stacks.count, 10);
	for (size_t at = 0; at < 10; at += 5) {
		struct profile piece;

		slice(at, 5, &piece, &cut);
		sum += piece.quality.samples;
		assert_int_equal(piece.count, 1 + 1 + 5);
		profile_fini(&piece);
	}
	assert_int_equal(sum, 55);
}

static void a_stack_within_a_stack_is_one_of_its_own(void **state)
{
	const struct frame caller = {.name = "main", .kind = FRAME_NATIVE};
	struct profile piece;
	uint64_t cut;

	add("f", "main", 3);
	assert_int_equal(profile_add(&whole, &caller, 1, 4), 0);
	assert_int_equal(push_stacks_init(&stacks, &whole), 0);
	assert_int_equal(stacks.count, 2);
	slice(0, 2, &piece, &cut);
	assert_int_equal(piece.quality.samples, 7);
	assert_int_equal(piece.nodes[1].self, 4);
	profile_fini(&piece);
}

static void a_stack_without_frames_has_one_that_says_so(void **state)
{
	struct profile piece;
	uint64_t cut;

	assert_int_equal(profile_add(&whole, NULL, 0, 5), 0);
	assert_int_equal(push_stacks_init(&stacks, &whole), 0);
	slice(0, 1, &piece, &cut);
	assert_int_equal(piece.nodes[0].self, 0);
	assert_string_equal(piece.nodes[1].name, PUSH_NO_FRAMES);
	assert_int_equal(piece.nodes[1].self, 5);
	profile_fini(&piece);
}

static void add_deep(size_t n)
{
	static struct frame frames[PUSH_MAX_FRAMES + 10];
	static char names[PUSH_MAX_FRAMES + 10][16];

	for (size_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i);
		frames[i] = (struct frame){.name = names[i], .kind = FRAME_JIT};
	}
	assert_int_equal(profile_add(&whole, frames, n, 1), 0);
}

static void a_deep_stack_keeps_its_leaf_and_says_that_it_is_cut(void **state)
{
	struct profile piece;
	uint64_t cut;

	add_deep(PUSH_MAX_FRAMES + 5);
	assert_int_equal(push_stacks_init(&stacks, &whole), 0);
	slice(0, 1, &piece, &cut);
	assert_int_equal(cut, 1);
	assert_int_equal(piece.count, 1 + PUSH_MAX_FRAMES);
	assert_string_equal(piece.nodes[1].name, PUSH_CUT_NAME);
	assert_string_equal(piece.nodes[PUSH_MAX_FRAMES].name, "f0");
	profile_fini(&piece);
}

static void a_stack_that_is_just_not_too_deep_is_not_cut(void **state)
{
	struct profile piece;
	uint64_t cut;

	add_deep(PUSH_MAX_FRAMES);
	assert_int_equal(push_stacks_init(&stacks, &whole), 0);
	slice(0, 1, &piece, &cut);
	assert_int_equal(cut, 0);
	assert_string_equal(piece.nodes[1].name, "f999");
	profile_fini(&piece);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define PIECES(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		PIECES(pieces_together_are_the_whole),
		PIECES(a_stack_within_a_stack_is_one_of_its_own),
		PIECES(a_stack_without_frames_has_one_that_says_so),
		PIECES(a_deep_stack_keeps_its_leaf_and_says_that_it_is_cut),
		PIECES(a_stack_that_is_just_not_too_deep_is_not_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
