// SPDX-License-Identifier: Apache-2.0
/* Claims about live/wait_frame.h. */
#include "live/wait_frame.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_system_call_has_its_name),
		cmocka_unit_test(the_kernel_knows_more),
		cmocka_unit_test(functions_of_programs_say_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
