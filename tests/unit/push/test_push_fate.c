// SPDX-License-Identifier: Apache-2.0
/* Claims about push/push_fate.h: what is sent again, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "push/push_fate.h"

#define SEC UINT64_C(1000000000)

static enum push_fate fate_of(bool went_out, long status, const char *text)
{
	struct push_reply reply = {.went_out = went_out, .status = status};

	strcpy(reply.text, text);
	return push_fate_of(&reply);
}

static void what_did_not_go_out_is_sent_again(void **state)
{
	assert_int_equal(fate_of(false, 0, "Connection refused"), PUSH_AGAIN);
}

static void what_went_out_without_an_answer_is_in_doubt(void **state)
{
	assert_int_equal(fate_of(true, 0, "Connection reset by peer"), PUSH_IN_DOUBT);
}

static void errors_of_servers_are_in_doubt(void **state)
{
	assert_int_equal(fate_of(true, 500, ""), PUSH_IN_DOUBT);
	assert_int_equal(fate_of(true, 502, ""), PUSH_IN_DOUBT);
	assert_int_equal(fate_of(true, 504, ""), PUSH_IN_DOUBT);
}

static void limits_and_credentials_are_waited_for(void **state)
{
	static const long statuses[] = {401, 403, 407, 408, 425, 429, 503};

	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++)
		assert_int_equal(fate_of(true, statuses[i], ""), PUSH_AGAIN);
	assert_int_equal(fate_of(true, 422, "{\"code\":\"resource_exhausted\"}"), PUSH_AGAIN);
}

static void what_is_never_taken_is_refused(void **state)
{
	static const long statuses[] = {301, 400, 404, 413, 415, 422};

	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++)
		assert_int_equal(fate_of(true, statuses[i], ""), PUSH_REFUSED);
}

static void a_part_that_is_refused_is_no_success(void **state)
{
	const struct push_reply reply = {
		.went_out = true, .status = 200, .is_partly_refused = true};

	assert_int_equal(fate_of(true, 200, ""), PUSH_SENT);
	assert_int_equal(fate_of(true, 204, ""), PUSH_SENT);
	assert_int_equal(push_fate_of(&reply), PUSH_REFUSED);
}

static void waits_grow_and_have_a_limit(void **state)
{
	assert_int_equal(push_wait_ns(1, 0, 0), SEC);
	assert_int_equal(push_wait_ns(2, 0, 0), 2 * SEC);
	assert_int_equal(push_wait_ns(4, 0, 0), 8 * SEC);
	assert_int_equal(push_wait_ns(1000, 0, 0), 60 * SEC);
}

static void chance_shortens_a_wait_by_a_half_at_most(void **state)
{
	assert_in_range(push_wait_ns(3, 0, 0xffff), 2 * SEC, 2 * SEC + SEC / 100);
	assert_int_equal(push_wait_ns(3, 0, 0x8000), 3 * SEC);
}

static void a_server_is_obeyed_up_to_five_minutes(void **state)
{
	assert_int_equal(push_wait_ns(1, 42, 0xffff), 42 * SEC);
	assert_int_equal(push_wait_ns(1, INT64_MAX, 0), 300 * SEC);
	assert_int_equal(push_wait_ns(1, -5, 0), SEC);
}

static int64_t skew_of(int64_t date)
{
	const struct push_reply reply = {.date_sec = date};

	return push_skew_of(&reply, 1000, 1010);
}

static void a_clock_that_may_be_right_is_not_skewed(void **state)
{
	assert_int_equal(skew_of(0), 0);
	assert_int_equal(skew_of(-1), 0);
	assert_int_equal(skew_of(1000 - 30), 0);
	assert_int_equal(skew_of(1005), 0);
	assert_int_equal(skew_of(1010 + 30), 0);
}

static void a_skew_is_told_with_its_sign(void **state)
{
	assert_int_equal(skew_of(1010 + 31), 31);
	assert_int_equal(skew_of(900), -100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_did_not_go_out_is_sent_again),
		cmocka_unit_test(what_went_out_without_an_answer_is_in_doubt),
		cmocka_unit_test(errors_of_servers_are_in_doubt),
		cmocka_unit_test(limits_and_credentials_are_waited_for),
		cmocka_unit_test(what_is_never_taken_is_refused),
		cmocka_unit_test(a_part_that_is_refused_is_no_success),
		cmocka_unit_test(waits_grow_and_have_a_limit),
		cmocka_unit_test(chance_shortens_a_wait_by_a_half_at_most),
		cmocka_unit_test(a_server_is_obeyed_up_to_five_minutes),
		cmocka_unit_test(a_clock_that_may_be_right_is_not_skewed),
		cmocka_unit_test(a_skew_is_told_with_its_sign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
