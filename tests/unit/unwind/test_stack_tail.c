// SPDX-License-Identifier: Apache-2.0
/* Claims about unwind/stack_tail.h, on made-up ends of snapshots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unwind/stack_tail.h"

#define COPY_WORDS 1024
#define ADDR	   UINT64_C(0x7f0000100000)
#define END	   (ADDR + COPY_WORDS * 8)  /* end of a page */
#define CALL	   UINT64_C(0x7f1234567890) /* a return address */

static uint64_t then[COPY_WORDS], now[COPY_WORDS];

static int set_up(void **state)
{
	for (size_t i = 0; i < COPY_WORDS; i++)
		then[i] = now[i] = i * 0x9e3779b9;
	return 0;
}

/* Compares a copy that ends in a frame with own words in the copy. */
static bool is_same(size_t own, size_t copy_words)
{
	const uint64_t *const bytes = then + COPY_WORDS - copy_words;
	const struct snapshot copy = {.addr = END - copy_words * 8,
				      .bytes = (const uint8_t *)bytes,
				      .len = copy_words * 8};

	return stack_tail_is_same(&copy, END - own * 8, (const uint8_t *)now, sizeof(now));
}

/*
 * Sets the return address right below the frame, then and now. Below the return address lies what
 * the frame has called.
 */
static void set_calls(size_t own, uint64_t called_then, uint64_t called_now)
{
	then[COPY_WORDS - own - 1] = called_then;
	now[COPY_WORDS - own - 1] = called_now;
}

static void a_frame_that_has_called_another_function_since_is_the_same(void **state)
{
	set_calls(100, CALL, CALL + 300);
	for (size_t i = 0; i < COPY_WORDS - 101; i++)
		now[i] = i;
	assert_true(is_same(100, COPY_WORDS));
}

static void a_frame_may_write_to_an_eighth_of_its_words(void **state)
{
	set_calls(80, CALL, CALL);
	for (size_t i = 0; i < 10; i++)
		now[COPY_WORDS - 80 + i] = 1;
	assert_true(is_same(80, COPY_WORDS));
	now[COPY_WORDS - 80 + 10] = 1;
	assert_false(is_same(80, COPY_WORDS));
}

static void a_frame_of_zeros_is_another_where_another_function_called(void **state)
{
	for (size_t i = COPY_WORDS - 80; i < COPY_WORDS; i++)
		then[i] = now[i] = 0;
	set_calls(80, CALL, CALL + 300);
	assert_true(is_same(80, COPY_WORDS));
	set_calls(80, CALL, CALL + (1u << 20));
	assert_false(is_same(80, COPY_WORDS));
	set_calls(80, CALL, CALL - (1u << 20));
	assert_false(is_same(80, COPY_WORDS));
}

static void the_last_words_are_the_same_whosever_they_are(void **state)
{
	for (size_t own = 0; own < 100; own += 3) {
		set_up(NULL);
		set_calls(own, CALL, CALL);
		assert_true(is_same(own, COPY_WORDS));
		now[COPY_WORDS - 8] ^= 1;
		assert_false(is_same(own, COPY_WORDS));
	}
}

/* The return address below the frame is not in the compared bytes. */
static void a_frame_that_has_called_nobody_is_unchanged_or_another(void **state)
{
	const size_t looked_at = STACK_TAIL_EQUAL_BYTES / 8;

	assert_true(is_same(COPY_WORDS, COPY_WORDS));
	now[COPY_WORDS - looked_at - 1] = 1;
	assert_true(is_same(COPY_WORDS, COPY_WORDS));
	now[COPY_WORDS - looked_at] = 1;
	assert_false(is_same(COPY_WORDS, COPY_WORDS));
	set_up(NULL);
	assert_true(is_same(20, 20));
	now[COPY_WORDS - 20] = 1;
	assert_false(is_same(20, 20));
}

/* The copy is as long as was asked for, and the stack goes on. Many frames there may be alike. */
static void a_copy_that_ends_within_a_page_is_followed_where_it_is_unchanged(void **state)
{
	const struct snapshot copy = {
		.addr = ADDR + 16, .bytes = (const uint8_t *)then, .len = sizeof(then)};
	const uint64_t frame = END + 16 - 20 * 8;

	set_calls(20, CALL, CALL);
	assert_true(stack_tail_is_same(&copy, frame, (const uint8_t *)now, sizeof(now)));
	now[COPY_WORDS - STACK_TAIL_EQUAL_BYTES / 8] ^= 1;
	assert_false(stack_tail_is_same(&copy, frame, (const uint8_t *)now, sizeof(now)));
}

static void a_copy_that_is_too_short_says_nothing(void **state)
{
	assert_true(is_same(0, STACK_TAIL_LEAST_BYTES / 8));
	for (size_t words = 0; words < STACK_TAIL_LEAST_BYTES / 8; words++)
		assert_false(is_same(0, words));
}

static void less_than_the_frame_of_what_is_there_now_says_nothing(void **state)
{
	const struct snapshot copy = {
		.addr = ADDR, .bytes = (const uint8_t *)then, .len = sizeof(then)};

	set_calls(20, CALL, CALL);
	for (size_t words = 0; words <= 30; words++)
		assert_int_equal(stack_tail_is_same(&copy, ADDR + sizeof(then) - 20 * 8,
						    (const uint8_t *)(now + COPY_WORDS - words),
						    words * 8),
				 words >= 21);
}

/* Only the copy and the present bytes are read, whatever a hostile stack pointer says. */
static void frames_outside_of_the_copy_are_none_of_its_own(void **state)
{
	const struct snapshot copy = {
		.addr = ADDR, .bytes = (const uint8_t *)then, .len = sizeof(then)};
	const uint64_t frames[] = {0, ADDR - 8, ADDR + 3, ADDR + sizeof(then), UINT64_MAX};

	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		set_up(NULL);
		assert_true(
			stack_tail_is_same(&copy, frames[i], (const uint8_t *)now, sizeof(now)));
		now[COPY_WORDS - 1] = 0;
		assert_false(
			stack_tail_is_same(&copy, frames[i], (const uint8_t *)now, sizeof(now)));
	}
}

#define TEST(claim) cmocka_unit_test_setup(claim, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_frame_that_has_called_another_function_since_is_the_same),
		TEST(a_frame_may_write_to_an_eighth_of_its_words),
		TEST(a_frame_of_zeros_is_another_where_another_function_called),
		TEST(the_last_words_are_the_same_whosever_they_are),
		TEST(a_frame_that_has_called_nobody_is_unchanged_or_another),
		TEST(a_copy_that_ends_within_a_page_is_followed_where_it_is_unchanged),
		TEST(a_copy_that_is_too_short_says_nothing),
		TEST(less_than_the_frame_of_what_is_there_now_says_nothing),
		TEST(frames_outside_of_the_copy_are_none_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
