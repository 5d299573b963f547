// SPDX-License-Identifier: Apache-2.0
/* The stack of a waker is kept until its wait comes, and no longer than it has room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "recording/waker_stack.h"

#define TID	71
#define TIME_NS UINT64_C(1000)

static struct waker_stack stack;

static struct record record_of(uint32_t number)
{
	return (struct record){
		.kind = RECORD_SAMPLE,
		.time_ns = TIME_NS,
		.tid = 79,
		.sample = {.kind = SAMPLE_OF_WAKER, .waker = {.tid = TID}, .waker_stack = number},
	};
}

static struct record wait_of(uint32_t number, pid_t tid, uint64_t time_ns)
{
	return (struct record){
		.kind = RECORD_SAMPLE,
		.time_ns = time_ns,
		.tid = tid,
		.sample = {.kind = SAMPLE_OF_WALL, .waker_stack = number},
	};
}

static bool is_of(uint32_t number, pid_t tid, uint64_t time_ns)
{
	const struct record wait = wait_of(number, tid, time_ns);

	return waker_stack_is_of(&stack, &wait);
}

static void frames_are_copied_and_written_upside_down(void **state)
{
	char name[] = "unlock", module[] = "libjvm.so";
	const struct frame frames[] = {
		{.name = name, .module = module, .kind = FRAME_JVM, .build_id = "ab"},
		{.name = "Pool.run", .file = "Pool.java", .line = 7, .kind = FRAME_JIT}};
	const struct record record = record_of(1);
	struct frame written[3] = {{.name = "untouched"}};

	(void)state;
	waker_stack_keep(&stack, &record, frames, 2);
	memset(name, 'x', sizeof(name) - 1); /* the symbolizer's texts do not live on */
	memset(module, 'x', sizeof(module) - 1);
	assert_int_equal(waker_stack_write(&stack, written + 3), 2);
	assert_string_equal(written[0].name, "untouched");
	assert_string_equal(written[1].name, "Pool.run");
	assert_string_equal(written[1].file, "Pool.java");
	assert_int_equal(written[1].line, 7);
	assert_null(written[1].module);
	assert_string_equal(written[2].name, "unlock");
	assert_string_equal(written[2].module, "libjvm.so");
	assert_int_equal(written[1].kind, FRAME_WAIT);
	assert_int_equal(written[2].kind, FRAME_WAIT);
}

static void a_stack_is_of_its_wait_alone(void **state)
{
	const struct frame frame = {.name = "unlock"};
	const struct record record = record_of(5);

	(void)state;
	waker_stack_keep(&stack, &record, &frame, 1);
	assert_true(is_of(5, TID, TIME_NS));
	assert_false(is_of(6, TID, TIME_NS));
	assert_false(is_of(5, TID + 1, TIME_NS));
	assert_false(is_of(5, TID, TIME_NS + 1));
	memset(&stack, 0, sizeof(stack));
	assert_false(is_of(0, 0, 0)); /* a wait without a waker's stack, and no stack */
}

static void frames_past_the_room_are_said(void **state)
{
	static struct frame many[WAKER_STACK_MAX_FRAMES + 9], written[WAKER_STACK_MAX_FRAMES];
	const struct record record = record_of(1);
	size_t n;

	(void)state;
	for (size_t i = 0; i < WAKER_STACK_MAX_FRAMES + 9; i++)
		many[i].name = "run";
	waker_stack_keep(&stack, &record, many, WAKER_STACK_MAX_FRAMES + 9);
	n = waker_stack_write(&stack, written + WAKER_STACK_MAX_FRAMES);
	assert_int_equal(n, WAKER_STACK_MAX_FRAMES);
	assert_string_equal(written[0].name, "[truncated: more frames of the waker]");
	assert_string_equal(written[1].name, "run");
}

static void texts_past_the_room_are_said(void **state)
{
	static char large[WAKER_STACK_MAX_BYTES / 2];
	const struct frame frames[] = {
		{.name = large}, {.name = "run", .module = large}, {.name = "main"}};
	const struct record record = record_of(1);
	struct frame written[3];

	(void)state;
	memset(large, 'n', sizeof(large) - 1);
	waker_stack_keep(&stack, &record, frames, 3);
	assert_int_equal(waker_stack_write(&stack, written + 3), 2);
	assert_string_equal(written[1].name, "[truncated: more frames of the waker]");
	assert_string_equal(written[2].name, large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_copied_and_written_upside_down),
		cmocka_unit_test(a_stack_is_of_its_wait_alone),
		cmocka_unit_test(frames_past_the_room_are_said),
		cmocka_unit_test(texts_past_the_room_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
