// SPDX-License-Identifier: Apache-2.0
/* What has been named: found again, given away when full, taken back. */
#include "agent/methods/method_ids.h"
#include "agent/methods/method_set.h"
#include "shared/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define ID(n) ((jmethodID)(uintptr_t)((n)*8 + 0x7f0000000000ull))

static struct method_ids ids;

static int clear(void **state)
{
	memset(&ids, 0, sizeof(ids));
	return 0;
}

static void a_method_keeps_its_id(void **state)
{
	uint32_t given[2000];

	for (uint32_t i = 0; i < 2000; i++) {
		assert_int_equal(method_ids_find(&ids, ID(i)), 0);
		given[i] = method_ids_add(&ids, ID(i));
		assert_in_range(given[i], 1, WIRE_METHOD_ID_MAX);
	}
	method_ids_keep(&ids);
	for (uint32_t i = 0; i < 2000; i++)
		assert_int_equal(method_ids_find(&ids, ID(i)), given[i]);
}

static void no_two_methods_share_an_id(void **state)
{
	static uint8_t seen[METHOD_IDS_SLOTS + 1];
	uint32_t known = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		assert_int_not_equal(method_ids_add(&ids, ID(i)), 0);
		method_ids_keep(&ids);
	}
	for (uint32_t i = 0; i < 100000; i++) {
		const uint32_t id = method_ids_find(&ids, ID(i));

		assert_true(id == 0 || !seen[id]);
		seen[id] = id != 0;
		known += id != 0;
	}
	assert_in_range(known, METHOD_IDS_SLOTS * 9 / 10, METHOD_IDS_SLOTS);
}

static void what_is_taken_back_was_never_there(void **state)
{
	static jmethodID before[METHOD_IDS_SLOTS];

	for (uint32_t i = 0; i < 100000; i++) {
		method_ids_add(&ids, ID(i));
		method_ids_keep(&ids);
	}
	memcpy(before, ids.slots, sizeof(before));
	for (uint32_t i = 200000; i < 200000 + METHOD_IDS_PENDING; i++)
		assert_int_not_equal(method_ids_add(&ids, ID(i)), 0);
	assert_int_equal(method_ids_add(&ids, ID(300000)), 0);
	assert_memory_not_equal(before, ids.slots, sizeof(before));
	method_ids_take_back(&ids);
	assert_memory_equal(before, ids.slots, sizeof(before));
}

static void a_set_numbers_its_methods(void **state)
{
	static struct method_set set;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < METHOD_SET_MAX; i++) {
			assert_true(method_set_add(&set, ID(i * 3)));
			assert_true(method_set_add(&set, ID(i * 3 / 2 / 3 * 3)));
		}
		assert_int_equal(set.n, METHOD_SET_MAX);
		assert_false(method_set_add(&set, ID(1)));
		for (uint32_t i = 0; i < METHOD_SET_MAX; i++)
			assert_int_equal(method_set_find(&set, ID(i * 3)), i);
		method_set_clear(&set);
		for (uint32_t i = 0; i < METHOD_SET_BUCKETS; i++)
			assert_int_equal(set.buckets[i], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_method_keeps_its_id, clear),
		cmocka_unit_test_setup(no_two_methods_share_an_id, clear),
		cmocka_unit_test_setup(what_is_taken_back_was_never_there, clear),
		cmocka_unit_test(a_set_numbers_its_methods),
	};

	return cmocka_run_group_tests_name("agent method_ids", tests, NULL, NULL);
}
