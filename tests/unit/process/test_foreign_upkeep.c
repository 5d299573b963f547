// SPDX-License-Identifier: Apache-2.0
/* Who may have perf maps of other runtimes read when there are too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "process/foreign_upkeep.h"
#include "process/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { EVE = 1001, BOB };

#define MOST_FILES 4
#define NO_PID	   0x7ffffff0 /* whose perf map is nowhere */

static struct foreign_upkeep upkeep;
static struct map64 processes;
static struct process *all[2 * MOST_FILES];
static size_t n_all;

static int set_up(void **state)
{
	upkeep = (struct foreign_upkeep){.max_files = MOST_FILES};
	processes = (struct map64){0};
	n_all = 0;
	return 0;
}

static int tear_down(void **state)
{
	for (size_t i = 0; i < n_all; i++)
		process_free(all[i]);
	foreign_upkeep_fini(&upkeep);
	map64_fini(&processes);
	return 0;
}

/* A process with generated code. Its perf map is read if that is due. */
static struct process *add(uint64_t group)
{
	const struct mapping generated = {.start = 0x10000, .end = 0x20000, .path = ""};
	struct process *process;

	assert_int_equal(process_new_replayed((pid_t)(NO_PID + n_all), 1, &process), 0);
	assert_int_equal(address_space_add(&process->space, &generated), 0);
	process->group = group;
	process->foreign.began_at = 1;
	process->foreign.look_ns = UINT64_MAX; /* no file is looked for */
	assert_int_equal(map64_put(&processes, (uint64_t)process->pid, process), 0);
	all[n_all++] = process;
	return process;
}

/* A process whose perf map is open and not due. */
static struct process *add_open(uint64_t group)
{
	struct process *const process = add(group);

	process->foreign.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(process->foreign.fd >= 0);
	process->foreign.is_open = true;
	process->foreign.next_ns = UINT64_MAX;
	return process;
}

/* A process whose perf map has just been opened, and is due. */
static struct process *add_new(uint64_t group)
{
	struct process *const process = add_open(group);

	process->foreign.next_ns = 0;
	return process;
}

static size_t count_open(uint64_t group)
{
	size_t n = 0;

	for (size_t i = 0; i < n_all; i++)
		n += all[i]->group == group && all[i]->foreign.is_open;
	return n;
}

static void step(void)
{
	upkeep.next_ns = 0;
	foreign_upkeep_step(&upkeep, &processes, clock_now_ns());
}

static void who_has_the_most_files_makes_room(void **state)
{
	for (size_t i = 0; i < MOST_FILES; i++)
		add_open(EVE);
	add_new(BOB);
	step();
	assert_int_equal(upkeep.evicted, 1);
	assert_int_equal(upkeep.put_off, 0);
	assert_int_equal(count_open(EVE), MOST_FILES - 1);
}

static void who_has_the_most_is_put_off(void **state)
{
	for (size_t i = 0; i < MOST_FILES; i++)
		add_open(i % 2 ? BOB : EVE);
	add_new(EVE);
	step();
	assert_int_equal(upkeep.evicted, 0);
	assert_int_equal(upkeep.put_off, 1);
	assert_int_equal(count_open(EVE) + count_open(BOB), MOST_FILES);
}

static void a_map_that_made_room_is_looked_for_later(void **state)
{
	struct process *const first = add_open(EVE), *const second = add_open(EVE);
	const uint64_t now_ns = clock_now_ns();
	const struct foreign_reader *gone;

	upkeep.max_files = 2;
	add_new(BOB);
	step();
	gone = first->foreign.is_open ? &second->foreign : &first->foreign;
	assert_false(gone->is_open);
	assert_true(gone->next_ns >= now_ns + FOREIGN_LOOK_INTERVAL_NS);
	assert_true(gone->next_ns < UINT64_MAX);
}

/* The process has a perf map of so many lines. */
static void fill(struct process *process, unsigned lines)
{
	struct foreign_map_stats stats = {0};
	char line[64];

	assert_int_equal(foreign_map_new(&process->foreign.map), 0);
	for (unsigned i = 0; i < lines; i++) {
		const int len = snprintf(line, sizeof(line), "%x 10 method%u\n", 16 * (i + 1), i);

		foreign_map_feed(process->foreign.map, line, (size_t)len, 1, &stats);
	}
}

static void who_has_the_most_bytes_loses_the_largest_map(void **state)
{
	struct process *const large = add_open(EVE), *const small = add_open(EVE);

	fill(large, 50000);
	fill(small, 100);
	upkeep.max_bytes = foreign_map_bytes(large->foreign.map);
	assert_true(upkeep.max_bytes > 3 << 20);
	add_new(BOB);
	step();
	assert_int_equal(upkeep.evicted, 1);
	assert_int_equal(upkeep.put_off, 0);
	assert_null(large->foreign.map);
	assert_non_null(small->foreign.map);
	assert_true(upkeep.bytes < upkeep.max_bytes);
}

static void nobody_makes_room_for_who_has_no_map(void **state)
{
	for (size_t i = 0; i < MOST_FILES; i++)
		add_open(EVE);
	add(BOB);
	step();
	upkeep.max_files = 2 * MOST_FILES;
	upkeep.max_bytes = 1;
	fill(all[0], 50000);
	step();
	assert_int_equal(upkeep.evicted, 0);
	assert_int_equal(count_open(EVE), MOST_FILES);
}

static void nobody_pays_for_a_little(void **state)
{
	fill(add_open(EVE), 100);
	upkeep.max_bytes = 1;
	add_new(BOB);
	step();
	assert_int_equal(upkeep.evicted, 0);
	assert_int_equal(upkeep.put_off, 1);
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_has_the_most_files_makes_room),
		TEST(who_has_the_most_is_put_off),
		TEST(a_map_that_made_room_is_looked_for_later),
		TEST(who_has_the_most_bytes_loses_the_largest_map),
		TEST(nobody_makes_room_for_who_has_no_map),
		TEST(nobody_pays_for_a_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
