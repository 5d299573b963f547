// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about loop/part.h: whatever an owner adds is woken for, stepped in the order of the
 * stages, and held as memory. The engine has no other parts, and is not opened.
 */
#include "loop/engine.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

struct toy {
	char *steps; /* the letters of all toys, in the order of what they do */
	char letter;
	int fd;
	uint64_t due_ns, bytes;
};

static void say(const struct toy *toy, char letter)
{
	toy->steps[strlen(toy->steps)] = letter;
}

static int toy_fd(const void *arg)
{
	return ((const struct toy *)arg)->fd;
}

static uint64_t toy_due_ns(const void *arg)
{
	return ((const struct toy *)arg)->due_ns;
}

static void be_ready(void *arg)
{
	const struct toy *const toy = arg;
	eventfd_t value;

	assert_int_equal(eventfd_read(toy->fd, &value), 0);
	say(toy, '!');
}

static void step(void *arg)
{
	say(arg, ((struct toy *)arg)->letter);
}

static void hold(const void *arg, struct memory_stats *ret)
{
	ret->lists += ((const struct toy *)arg)->bytes;
}

static void add(struct engine *engine, enum turn_stage stage, struct toy *toy)
{
	engine_add_part(engine, &(struct part){.stage = stage,
					       .fd = toy_fd,
					       .due_ns = toy_due_ns,
					       .ready = be_ready,
					       .step = step,
					       .hold = hold,
					       .arg = toy});
}

static void a_turn_walks_over_parts_by_stage(void **state)
{
	char steps[16] = "";
	struct toy control = {.steps = steps, .letter = 'c', .fd = -1, .due_ns = PART_NEVER},
		   first = {.steps = steps, .letter = 'a', .fd = -1, .due_ns = PART_NEVER},
		   second = {.steps = steps, .letter = 'b', .fd = -1, .due_ns = PART_NEVER};
	static struct engine engine;

	(void)state;
	add(&engine, TURN_CONTROL, &control);
	add(&engine, TURN_AGENTS, &first);
	add(&engine, TURN_AGENTS, &second);
	engine_step(&engine, 0);
	assert_string_equal(steps, "abc");
	engine_remove_part(&engine, &second);
	engine_step(&engine, 0);
	assert_string_equal(steps, "abcac");
	assert_true(engine.turns.longest_stage_ns[TURN_AGENTS] > 0);
	assert_int_equal(engine.turns.longest_stage_ns[TURN_NAMING], 0);
}

/* Without either the test would not end. */
static void a_descriptor_and_a_due_time_end_the_wait(void **state)
{
	const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	char steps[16] = "";
	struct toy toy = {.steps = steps, .letter = 'a', .fd = fd, .due_ns = PART_NEVER};
	static struct engine engine;

	(void)state;
	add(&engine, TURN_RINGS, &toy);
	assert_int_equal(eventfd_write(fd, 1), 0);
	engine_step(&engine, UINT64_MAX / 4);
	assert_string_equal(steps, "!a");
	toy.due_ns = 0;
	engine_step(&engine, UINT64_MAX / 4);
	toy.due_ns = clock_now_ns() + 1;
	engine_step(&engine, UINT64_MAX / 4);
	assert_string_equal(steps, "!aaa");
	close(fd);
}

static void memory_is_the_sum_over_parts(void **state)
{
	const struct toy toys[] = {{.bytes = 100}, {.bytes = 23}};
	static struct engine engine;
	struct memory_stats stats;

	(void)state;
	for (int i = 0; i < 2; i++)
		engine_add_part(&engine, &(struct part){.hold = hold, .arg = (void *)&toys[i]});
	engine_hold(&engine, &stats);
	assert_int_equal(stats.lists, 123);
	assert_int_equal(memory_stats_shared(&stats), 123);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_turn_walks_over_parts_by_stage),
		cmocka_unit_test(a_descriptor_and_a_due_time_end_the_wait),
		cmocka_unit_test(memory_is_the_sum_over_parts),
	};

	return cmocka_run_group_tests_name("part", tests, NULL, NULL);
}
