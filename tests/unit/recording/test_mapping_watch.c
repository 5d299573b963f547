// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about recording/mapping_watch.h: what is not answered in time is read later, and not lost;
 * samples wait for what they have missed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/guarded.h"
#include "recording/mapping_watch.h"

#include <unistd.h>

static struct process *process;
static struct mapping_watch watch;
static unsigned asked;

static enum guarded_end pause_all(void *arg, pid_t pid, struct guarded_call *call)
{
	asked++;
	return GUARDED_PAUSED;
}

static void leave(void *arg, pid_t pid, struct guarded_call *call)
{
	call->run(call);
	call->free(call);
}

static const struct guarded_runner pausing = {.run = pause_all, .leave = leave};

static int set_up(void **state)
{
	watch = (struct mapping_watch){.is_told = true};
	return process_new(getpid(), 0, PROCESS_READ_ALL, &process);
}

static int tear_down(void **state)
{
	guarded_use(NULL);
	process_free(process);
	return 0;
}

static bool is_due(uint64_t now_ns)
{
	return mapping_watch_is_due(&watch, process, now_ns, false, now_ns);
}

static void ignore(void *arg, const struct record *record)
{
}

static void after_a_loss_what_is_late_is_read_later(void **state)
{
	const uint64_t lost_ns = clock_now_ns(), due_ns = lost_ns + MAPPING_WATCH_LOSS_WAIT_NS;

	assert_false(is_due(due_ns));
	mapping_watch_note_loss(&watch, lost_ns);
	assert_true(is_due(due_ns));
	guarded_use(&pausing);
	assert_int_equal(mapping_watch_read(&watch, process, due_ns, ignore, NULL), 0);
	assert_int_equal(asked, 1);
	assert_true(process->space_due_ns > due_ns);
	assert_false(is_due(due_ns + MAPPING_WATCH_MOST_WAIT_NS)); /* others ask by then */
	guarded_use(NULL);
	process_read_on(process, PROCESS_READ_ALL);
	assert_int_equal(process->space_due_ns, 0);
	assert_true(process->space_read_ns > lost_ns);
	assert_non_null(address_space_find(&process->space, (uint64_t)(uintptr_t)is_due));
	assert_false(is_due(due_ns));
}

static void a_missed_address_does_not_ask_again_before(void **state)
{
	const uint64_t now_ns = clock_now_ns() + MAPPING_WATCH_WAIT_NS;
	const uint64_t later_ns = now_ns + MAPPING_WATCH_MOST_WAIT_NS;

	watch.is_told = false;
	assert_true(mapping_watch_is_due(&watch, process, now_ns, true, now_ns));
	guarded_use(&pausing);
	assert_int_equal(mapping_watch_read(&watch, process, now_ns, ignore, NULL), 0);
	assert_false(mapping_watch_is_due(&watch, process, later_ns, true, later_ns));
	guarded_use(NULL);
	process_read_on(process, PROCESS_READ_ALL);
	assert_true(mapping_watch_is_due(&watch, process, later_ns, true, later_ns));
	process->space_late = 1;
	mapping_watch_read(&watch, process, later_ns, ignore, NULL);
	assert_int_equal(process->space_late, 0);
}

/* ---- what a walk has missed ---- */

static enum mapping_hope hope_at(uint64_t time_ns, uint64_t now_ns)
{
	watch.turn_ns = 0; /* there is time */
	return mapping_watch_hope(&watch, process, time_ns, now_ns);
}

static void a_change_of_size_shortens_the_wait(void **state)
{
	const uint64_t read_ns = process->space_read_ns, missed_ns = read_ns + 1;
	const uint64_t due_ns = read_ns + MAPPING_WATCH_WAIT_NS;

	watch.is_told = false;
	process->space_wait_ns = MAPPING_WATCH_MOST_WAIT_NS;
	assert_int_equal(hope_at(read_ns, due_ns), MAPPING_HOPE_NONE);
	assert_int_equal(hope_at(missed_ns, due_ns), MAPPING_HOPE_NONE);
	assert_int_equal(process->space_same_ns, due_ns);
	process->space.code_bytes -= 4096;
	assert_int_equal(hope_at(due_ns, due_ns), MAPPING_HOPE_NONE); /* it was the same then */
	process->space_same_ns = 0;
	assert_int_equal(hope_at(missed_ns, due_ns - 1), MAPPING_HOPE_LATER);
	assert_int_equal(hope_at(missed_ns, due_ns), MAPPING_HOPE_NOW);
}

static void what_sizes_do_not_tell_of_is_read_now_and_then(void **state)
{
	const uint64_t due_ns = process->space_read_ns + MAPPING_WATCH_MOST_WAIT_NS;

	watch.is_told = false;
	process->space_wait_ns = MAPPING_WATCH_MOST_WAIT_NS;
	assert_int_equal(hope_at(due_ns - 1, due_ns - 1), MAPPING_HOPE_NONE);
	assert_int_equal(hope_at(due_ns - 1, due_ns), MAPPING_HOPE_NOW);
}

static void samples_wait_for_a_reading_that_goes_on(void **state)
{
	const uint64_t read_ns = process->space_read_ns;

	watch.is_told = false;
	process->space_due_ns = UINT64_MAX;
	assert_int_equal(hope_at(read_ns, read_ns), MAPPING_HOPE_LATER);
	process->gone_ns = read_ns;
	assert_int_equal(hope_at(read_ns, read_ns), MAPPING_HOPE_NONE);
}

static void samples_wait_for_time_to_read(void **state)
{
	const uint64_t due_ns = process->space_read_ns + MAPPING_WATCH_MOST_WAIT_NS;

	watch = (struct mapping_watch){.turn_ns = UINT64_MAX, .spent_ns = MAPPING_WATCH_SPENT_NS};
	assert_int_equal(mapping_watch_hope(&watch, process, due_ns, due_ns), MAPPING_HOPE_LATER);
}

static void what_the_kernel_tells_of_is_read_after_a_loss_alone(void **state)
{
	const uint64_t lost_ns = process->space_read_ns + 1;
	const uint64_t due_ns = process->space_read_ns + MAPPING_WATCH_LOSS_WAIT_NS;

	process->space.code_bytes -= 4096;
	assert_int_equal(hope_at(due_ns, due_ns), MAPPING_HOPE_NONE);
	mapping_watch_note_loss(&watch, lost_ns);
	assert_int_equal(hope_at(lost_ns, due_ns - 1), MAPPING_HOPE_LATER);
	assert_int_equal(hope_at(lost_ns, due_ns), MAPPING_HOPE_NOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(after_a_loss_what_is_late_is_read_later),
		TEST(a_missed_address_does_not_ask_again_before),
		TEST(a_change_of_size_shortens_the_wait),
		TEST(what_sizes_do_not_tell_of_is_read_now_and_then),
		TEST(samples_wait_for_a_reading_that_goes_on),
		TEST(samples_wait_for_time_to_read),
		TEST(what_the_kernel_tells_of_is_read_after_a_loss_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
