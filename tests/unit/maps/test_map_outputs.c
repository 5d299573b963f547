// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about maps/map_outputs.h, with the model that it listens to: what is written of a process
 * is no part of the process.
 */
#include "../process/targets_fixture.h"

#include "base/clock.h"
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool map_has(pid_t pid, const char *line)
{
	char path[TEMP_DIR_BYTES + 32], *text;
	bool has;

	snprintf(path, sizeof(path), "%s/perf-%d.map", map_dir, (int)pid);
	if (file_read_whole(path, 1 << 20, &text) < 0)
		return false;
	has = strstr(text, line);
	free(text);
	return has;
}

static void code_is_due_when_it_is_told(void **state)
{
	struct process *process;

	(void)state;
	process = connect_agent();
	assert_non_null(process->output);
	assert_null(due_heap_first(&outputs.heap));
	say_load(0x1000, 64, "run", 500);
	assert_ptr_equal(due_heap_first(&outputs.heap), &process->output->due);
	assert_int_equal(process->output->due.at_ns, map_writer_due_ns(&process->output->map));
	assert_true(map_outputs_due_ns(&outputs) <= process->output->due.at_ns);
}

/* The pause after a write would be longer than the process is known. */
static void the_last_map_of_a_process_that_ends_has_no_pause(void **state)
{
	const uint64_t now = clock_now_ns();
	const pid_t pid = child;
	struct process *process;

	(void)state;
	process = connect_agent();
	say_load(0x1000, 64, "run", 500);
	tick(now + CLOCK_NS_PER_SEC);
	process->output->map.next_ns = now + 3600 * CLOCK_NS_PER_SEC;
	say_load(0x2000, 64, "last", 501);
	tick(now + 2 * CLOCK_NS_PER_SEC);
	assert_false(map_has(pid, "last"));
	end_child();
	tick(now + 3 * CLOCK_NS_PER_SEC); /* its end is seen */
	tick(now + 4 * CLOCK_NS_PER_SEC);
	assert_true(map_has(pid, "2000 40 Lcom/acme/Main;::last\n"));
	assert_int_equal(outputs.unfinished, 0);
}

static void a_process_is_forgotten_though_its_map_is_not_written(void **state)
{
	const uint64_t now = clock_now_ns();
	const pid_t pid = child;
	struct process *process;

	(void)state;
	process = connect_agent();
	say_load(0x1000, 64, "run", 500);
	end_child();
	targets_tick(&targets, now + CLOCK_NS_PER_SEC, 0);
	assert_true(process->gone_ns > 0);
	targets_tick(&targets, now + 10 * CLOCK_NS_PER_SEC, 0);
	assert_null(targets_find(&targets, pid));
	assert_int_equal(outputs.unfinished, 1);
	assert_int_equal(outputs.count, 0);
	assert_null(due_heap_first(&outputs.heap));
}

static void the_files_of_a_process_are_charged_for_it(void **state)
{
	struct process *process;
	size_t before;

	(void)state;
	process = connect_agent();
	before = process_bytes(process);
	say_load(0x1000, 64, "run", 500);
	tick(clock_now_ns() + CLOCK_NS_PER_SEC);
	assert_true(map_writer_heap_bytes(&process->output->map) > 0);
	assert_true(process_bytes(process) >=
		    before + map_writer_heap_bytes(&process->output->map));
}

static void nobody_listens_any_more(void **state)
{
	struct process *process;

	(void)state;
	process = connect_agent();
	map_outputs_fini(&outputs);
	assert_null(process->output);
	say_load(0x1000, 64, "run", 500);
	assert_non_null(code_map_find(process->code, 0x1010, 500));
	map_outputs_init(&outputs, &targets, map_dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TARGETS_TEST(code_is_due_when_it_is_told),
		TARGETS_TEST(the_last_map_of_a_process_that_ends_has_no_pause),
		TARGETS_TEST(a_process_is_forgotten_though_its_map_is_not_written),
		TARGETS_TEST(the_files_of_a_process_are_charged_for_it),
		TARGETS_TEST(nobody_listens_any_more),
	};

	return cmocka_run_group_tests_name("map_outputs", tests, NULL, NULL);
}
