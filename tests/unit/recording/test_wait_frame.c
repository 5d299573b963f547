// SPDX-License-Identifier: Apache-2.0
/* Claims about recording/wait_frame.h. */
#include "recording/wait_frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

static void check(const char *expected, int32_t syscall, const char *function, enum frame_kind kind)
{
	const struct frame frames[] = {{.name = "schedule", .kind = FRAME_KERNEL},
				       {.name = function, .kind = kind},
				       {.name = "io_schedule", .kind = FRAME_NATIVE}};
	char text[WAIT_FRAME_BYTES];

	assert_string_equal(wait_frame_blocked(syscall, frames, 3, text), expected);
}

static void the_system_call_has_its_name(void **state)
{
	check("[blocked: futex]", SYS_futex, "futex_wait", FRAME_KERNEL);
	check("[blocked: epoll_pwait]", SYS_epoll_pwait, "ep_poll", FRAME_KERNEL);
	check("[blocked: read]", SYS_read, "vfs_read", FRAME_KERNEL);
	check("[blocked: system call 99999]", 99999, "x", FRAME_KERNEL);
}

static void the_kernel_knows_more(void **state)
{
	check("[blocked: disk]", SYS_read, "io_schedule", FRAME_KERNEL);
	check("[blocked: disk]", -1, "io_schedule", FRAME_KERNEL);
	check("[blocked: stopped]", SYS_futex, "do_signal_stop", FRAME_KERNEL);
	check("[blocked: frozen]", -1, "do_freezer_trap", FRAME_KERNEL);
	check("[blocked: page fault]", -1, "handle_mm_fault", FRAME_KERNEL);
	/* It is the call that has touched the page. */
	check("[blocked: read]", SYS_read, "handle_mm_fault", FRAME_KERNEL);
}

static void functions_of_programs_say_nothing(void **state)
{
	check("[blocked]", -1, "io_schedule", FRAME_NATIVE);
	check("[blocked: read]", SYS_read, "io_schedule", FRAME_NATIVE);
}

static void check_waker(const char *expected, enum waker_kind kind, const char *told)
{
	const struct sample_waker waker = {.kind = (uint8_t)kind, .comm = "comm"};
	char text[64];

	wait_frame_waker(&waker, told, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void a_waker_has_the_name_that_its_process_tells(void **state)
{
	(void)state;
	check_waker("[woken by worker-1]", WAKER_THREAD, "worker-1");
	check_waker("[woken by comm]", WAKER_THREAD, "");
	check_waker("[woken by a soft interrupt in comm]", WAKER_SOFTIRQ, "");
	/* The thread that was interrupted has nothing to do with it. */
	check_waker("[woken by an interrupt]", WAKER_IRQ, "worker-1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_system_call_has_its_name),
		cmocka_unit_test(the_kernel_knows_more),
		cmocka_unit_test(functions_of_programs_say_nothing),
		cmocka_unit_test(a_waker_has_the_name_that_its_process_tells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
