// SPDX-License-Identifier: Apache-2.0
/* Claims about live/mapping_watch.h: what is not answered in time is read later, and not lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/guarded.h"
#include "live/mapping_watch.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(after_a_loss_what_is_late_is_read_later, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_missed_address_does_not_ask_again_before, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
