// SPDX-License-Identifier: Apache-2.0
/* Claims about capture/capture_share.h: a capture is not that of who comes first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "capture/capture_share.h"

#define TOTAL 3200u
#define EACH  10u

static const struct capture_amounts limits = {{TOTAL, TOTAL, TOTAL, TOTAL, TOTAL, TOTAL, TOTAL}};

/* Takes of a pool, a step at a time, as long as the group has a share. Returns how much. */
static uint64_t take_all(struct capture_share *share, uint64_t group, enum capture_pool pool)
{
	const struct capture_amounts before = {{0}};
	struct capture_amounts after = {{0}};
	uint64_t taken = 0;

	after.of[pool] = EACH;
	while (capture_share_has(share, group, &limits)) {
		capture_share_take(share, group, &before, &after);
		taken += EACH;
	}
	return taken;
}

static void who_came_first_leaves_a_part_of_each_pool(void **state)
{
	for (enum capture_pool pool = 0; pool < CAPTURE_POOLS; pool++) {
		struct capture_share share = {0};

		assert_int_equal(take_all(&share, 1, pool), TOTAL - TOTAL / 32);
		assert_int_equal(take_all(&share, 2, pool), TOTAL / 32 / 2);
		assert_false(capture_share_has(&share, 1, &limits));
		capture_share_fini(&share);
	}
}

static void who_comes_beside_others_has_as_much_as_is_free(void **state)
{
	const struct capture_amounts before = {{0}}, after = {{EACH}};
	struct capture_share share = {0};

	capture_share_take(&share, 2, &before, &after);
	assert_int_equal(take_all(&share, 1, CAPTURE_POOL_BYTES), (TOTAL - EACH + EACH) / 2);
	assert_true(capture_share_has(&share, 2, &limits));
	capture_share_fini(&share);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_came_first_leaves_a_part_of_each_pool),
		cmocka_unit_test(who_comes_beside_others_has_as_much_as_is_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
