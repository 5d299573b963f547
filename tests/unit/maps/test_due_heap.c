// SPDX-License-Identifier: Apache-2.0
/* Claims about maps/due_heap.h, held against a walk over all times. */
#include "maps/due_heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MANY   100
#define ROUNDS 20000

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static void check_first(const struct due_heap *heap, const struct due *dues)
{
	const struct due *const first = due_heap_first(heap);
	uint64_t least = UINT64_MAX;
	size_t n = 0;

	for (size_t i = 0; i < MANY; i++) {
		if (!dues[i].place)
			continue;
		n++;
		if (dues[i].at_ns < least)
			least = dues[i].at_ns;
		assert_ptr_equal(heap->dues[dues[i].place - 1], &dues[i]);
	}
	assert_int_equal(heap->count, n);
	if (n == 0)
		assert_null(first);
	else
		assert_int_equal(first->at_ns, least);
}

static void the_first_is_the_first_of_all(void **state)
{
	struct due_heap heap = {0};
	struct due dues[MANY] = {0};
	uint64_t random = 1;

	(void)state;
	assert_int_equal(due_heap_reserve(&heap, MANY), 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct due *const due = &dues[next_random(&random) % MANY];

		/* A third of the times are never, and many are equal. */
		due_heap_set(&heap, due, next_random(&random) % 3 ? next_random(&random) % 50 : 0);
		check_first(&heap, dues);
	}
	for (size_t i = 0; i < MANY; i++)
		due_heap_set(&heap, &dues[i], 0);
	assert_null(due_heap_first(&heap));
	due_heap_fini(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_is_the_first_of_all),
	};

	return cmocka_run_group_tests_name("due_heap", tests, NULL, NULL);
}
