// SPDX-License-Identifier: Apache-2.0
/* Claims about draw/draw_join.h: a difference is made once for all that ask for the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "draw/draw_join.h"

static void add(struct profile *profile, const char *name, uint64_t weight)
{
	const struct frame frame = {.name = name, .kind = FRAME_JIT};

	assert_int_equal(profile_add(profile, &frame, 1, weight), 0);
}

static const struct profile_diff *join_of(struct draw_join *join, const struct profile *before,
					  const struct profile *after, struct diff_options how)
{
	const struct profile_diff *diff = NULL;

	assert_int_equal(draw_join_get(join, before, after, &how, &diff), 0);
	assert_non_null(diff->nodes);
	return diff;
}

static void assert_counts(const struct profile_diff *diff, uint64_t before, uint64_t after)
{
	assert_int_equal(diff->nodes[PROFILE_ROOT].total[DIFF_BEFORE], before);
	assert_int_equal(diff->nodes[PROFILE_ROOT].total[DIFF_AFTER], after);
}

static void what_is_asked_for_again_is_not_made_again(void **state)
{
	const struct diff_options how = {.width = DIFF_WIDTH_UNION};
	struct profile before, after, cut;
	struct draw_join join = {.before = &before, .after = &after};
	const struct profile_diff *first;

	assert_int_equal(profile_init(&before, 0), 0);
	assert_int_equal(profile_init(&after, 0), 0);
	assert_int_equal(profile_init(&cut, 0), 0);
	add(&before, "run", 3);
	add(&after, "run", 5);
	add(&cut, "run", 1);

	/* One of another profile does not take the place of the one that is kept. */
	assert_counts(join_of(&join, &cut, &after, how), 1, 5);
	first = join_of(&join, &before, &after, how);
	assert_counts(first, 3, 5);
	assert_counts(join_of(&join, &before, &cut, how), 3, 1);
	assert_ptr_equal(join_of(&join, &before, &after, how), first);
	assert_null(join.other.nodes); /* two trees at a time are too many */

	/* A profile in the place of another one has a difference of its own. */
	add(&cut, "run", 6);
	assert_counts(join_of(&join, &before, &cut, how), 3, 7);

	/* Sides are not exchanged, and options are not mixed. */
	assert_counts(join_of(&join, &after, &before, how), 5, 3);
	for (int i = 0; i < 4; i++) {
		const struct diff_options other = {
			.width = i == 0 ? DIFF_WIDTH_AFTER : DIFF_WIDTH_UNION,
			.is_raw = i == 1,
			.splits_kinds = i == 2,
			.sample_weight = i == 3 ? 2 : 0,
		};
		const struct profile_diff *const diff = join_of(&join, &before, &after, other);

		assert_ptr_not_equal(diff, first);
		assert_int_equal(diff->options.width, other.width);
		assert_int_equal(diff->options.is_raw, other.is_raw);
		assert_int_equal(diff->options.splits_kinds, other.splits_kinds);
		assert_true(diff->options.sample_weight == other.sample_weight);
	}
	assert_ptr_equal(join_of(&join, &before, &after, how), first);
	assert_counts(first, 3, 5);

	draw_join_fini(&join);
	profile_fini(&before);
	profile_fini(&after);
	profile_fini(&cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_asked_for_again_is_not_made_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
