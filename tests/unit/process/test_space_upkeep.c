// SPDX-License-Identifier: Apache-2.0
/* Claims about process/space_upkeep.h: many mappings take several turns, and then all are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/guarded.h"
#include "common/codes.h"
#include "process/space_upkeep.h"

#include <string.h>
#include <unistd.h>

#define PAGE	CODES_PAGE
#define N_CODES 6000 /* more than one piece can have */

static char *codes;
static struct process *process;
static struct map64 processes;
static struct space_upkeep upkeep;

static int set_up(void **state)
{
	codes = codes_make(N_CODES);
	if (!codes)
		return -1;
	upkeep = (struct space_upkeep){0};
	space_upkeep_begin_turn(&upkeep);
	if (process_new(getpid(), 0, 0, &process) < 0)
		return -1;
	return map64_put(&processes, (uint64_t)getpid(), process);
}

static int tear_down(void **state)
{
	guarded_use(NULL);
	process_free(process);
	map64_fini(&processes);
	processes = (struct map64){0};
	return codes_remove(codes, N_CODES);
}

static bool knows(const char *code)
{
	return address_space_find(&process->space, (uint64_t)(uintptr_t)code) != NULL;
}

static int finish(void)
{
	int steps = 0;

	while (upkeep.next_ns && steps < 10000) {
		space_upkeep_step(&upkeep, &processes, upkeep.next_ns);
		steps++;
	}
	assert_null(process->reader);
	return steps;
}

static void mappings_come_in_later_turns(void **state)
{
	assert_non_null(process->reader);
	assert_false(knows(codes));
	space_upkeep_spend(&upkeep, process, clock_now_ns());
	assert_true(upkeep.next_ns > 0);
	space_upkeep_step(&upkeep, &processes, upkeep.next_ns - 1); /* too early */
	assert_false(knows(codes));
	assert_true(finish() >= 1);
	assert_true(knows(codes));
	assert_true(knows(codes + 2 * (N_CODES - 1) * PAGE));
}

static void a_turn_has_only_so_much_time(void **state)
{
	assert_true(space_upkeep_time(&upkeep) == SPACE_UPKEEP_NS);
	space_upkeep_spend(&upkeep, process, clock_now_ns() - SPACE_UPKEEP_MOST_NS);
	assert_true(space_upkeep_time(&upkeep) == 0);
	space_upkeep_read(&upkeep, process);
	assert_false(knows(codes));
	space_upkeep_begin_turn(&upkeep);
	assert_true(space_upkeep_time(&upkeep) == SPACE_UPKEEP_NS);
}

static void without_turns_all_is_read_at_once(void **state)
{
	upkeep = (struct space_upkeep){0};
	space_upkeep_read(&upkeep, process);
	assert_null(process->reader);
	assert_true(knows(codes + 2 * (N_CODES - 1) * PAGE));
}

/* While the reading goes on, the kernel tells of a mapping, and of one that was there before. */
static void what_was_told_meanwhile_stays(void **state)
{
	struct mapping told = {.start = 0x1000, .end = 0x2000, .inode = 7, .path = "/old"};

	told.since_ns = process->space_read_ns - 1;
	assert_int_equal(address_space_add(&process->space, &told), 0);
	told = (struct mapping){.start = 0x3000, .end = 0x4000, .inode = 8, .path = "/new"};
	told.since_ns = process->space_read_ns;
	assert_int_equal(address_space_add(&process->space, &told), 0);
	process_read_on(process, PROCESS_READ_ALL);
	assert_null(address_space_find(&process->space, 0x1000));
	assert_string_equal(address_space_find(&process->space, 0x3000)->path, "/new");
	assert_true(knows(codes));
}

static void what_changes_while_it_is_read_is_read_again(void **state)
{
	const uint64_t began_ns = process->space_read_ns;

	space_upkeep_spend(&upkeep, process, clock_now_ns());
	process_read_space_soon(process, began_ns - 1); /* the reading sees that */
	assert_int_equal(process->space_due_ns, 0);
	process_read_space_soon(process, began_ns);
	space_upkeep_note(&upkeep, process);
	finish();
	assert_true(process->space_read_ns > began_ns);
	assert_int_equal(process->space_due_ns, 0);
	assert_true(knows(codes));
}

static void another_program_is_not_read_to_the_end(void **state)
{
	process_exec(process, clock_now_ns());
	assert_null(process->reader);
	process_read_on(process, PROCESS_READ_ALL);
	assert_false(knows(codes));
}

/* ---- readings without an answer in time ---- */

static enum guarded_end late_end;
static unsigned late_left, asked;

static enum guarded_end run_late(void *arg, pid_t pid, struct guarded_call *call)
{
	asked++;
	if (late_left == 0) {
		call->run(call);
		return GUARDED_DONE;
	}
	late_left--;
	if (late_end == GUARDED_LATE)
		call->free(call);
	return late_end;
}

static void leave_late(void *arg, pid_t pid, struct guarded_call *call)
{
	call->run(call);
	call->free(call);
}

static const struct guarded_runner late_runner = {.run = run_late, .leave = leave_late};

/* Begins a reading that is late so often. */
static void read_late(enum guarded_end end, unsigned times)
{
	process_read_on(process, PROCESS_READ_ALL);
	assert_true(knows(codes));
	address_space_fini(&process->space);
	process->space = (struct address_space){0};
	late_end = end;
	late_left = times;
	asked = 0;
	guarded_use(&late_runner);
	space_upkeep_begin_turn(&upkeep);
	space_upkeep_read(&upkeep, process);
	assert_null(process->reader);
	assert_false(knows(codes));
	assert_int_equal(asked, 1);
	assert_true(upkeep.next_ns > clock_now_ns());
}

/*
 * Steps at the time of the next one until somebody has been asked so often: a step on a busy
 * machine has used its time before it comes to the process.
 */
static void step_until_asked(unsigned times)
{
	while (asked < times && upkeep.next_ns)
		space_upkeep_step(&upkeep, &processes, upkeep.next_ns);
	assert_int_equal(asked, times);
}

static void what_was_late_is_read_later(void **state)
{
	for (enum guarded_end end = GUARDED_LATE; end <= GUARDED_PAUSED; end++) {
		process->space_late = 0;
		read_late(end, 2);
		space_upkeep_step(&upkeep, &processes, upkeep.next_ns - 1);
		assert_int_equal(asked, 1);
		step_until_asked(2); /* late again */
		assert_true(finish() >= 1);
		assert_true(knows(codes));
		assert_true(knows(codes + 2 * (N_CODES - 1) * PAGE));
		assert_int_equal(process->space_late, 0);
		guarded_use(NULL);
	}
}

static void what_never_answers_is_left(void **state)
{
	uint64_t last_ns = 0;

	read_late(GUARDED_PAUSED, 1000);
	for (unsigned times = 2; times <= 1 + PROCESS_LATE_READS; times++) {
		assert_true(upkeep.next_ns > last_ns);
		last_ns = upkeep.next_ns;
		step_until_asked(times);
	}
	while (upkeep.next_ns)
		space_upkeep_step(&upkeep, &processes, upkeep.next_ns);
	assert_int_equal(asked, 1 + PROCESS_LATE_READS);
	late_left = 0;
	space_upkeep_begin_turn(&upkeep); /* whoever asks has an answer */
	space_upkeep_read(&upkeep, process);
	finish();
	assert_true(knows(codes));
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(mappings_come_in_later_turns),
		CLAIM(a_turn_has_only_so_much_time),
		CLAIM(without_turns_all_is_read_at_once),
		CLAIM(what_was_told_meanwhile_stays),
		CLAIM(what_changes_while_it_is_read_is_read_again),
		CLAIM(another_program_is_not_read_to_the_end),
		CLAIM(what_was_late_is_read_later),
		CLAIM(what_never_answers_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
