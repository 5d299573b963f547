// SPDX-License-Identifier: Apache-2.0
/* Names what threads wait for, see wait_frame.h. */
#include "recording/wait_frame.h"

#include <asm/unistd.h>
#include <stdio.h>
#include <string.h>

struct call {
	int32_t number;
	const char *name;
};

/* Made from the kernel's header of the architecture, see CMakeLists.txt. */
static const struct call calls[] = {
#include "syscall_names.inc"
};

/* Functions of the kernel that say more than the system call does. */
static const struct {
	const char *function, *reason;
	bool is_for_call; /* also where the thread is in a system call */
} reasons[] = {
	{"io_schedule", "disk", true},
	{"io_schedule_timeout", "disk", true},
	{"__refrigerator", "frozen", true},
	{"do_freezer_trap", "frozen", true},
	{"ptrace_stop", "stopped", true},
	{"do_signal_stop", "stopped", true},
	{"handle_mm_fault", "page fault", false},
	{"do_user_addr_fault", "page fault", false},
	{"do_page_fault", "page fault", false},
};

static const char *name_of_call(int32_t number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (calls[i].number == number)
			return calls[i].name;
	}
	return NULL;
}

/* What a function of the kernel says; NULL: nothing. */
static const char *reason_of(const char *function, bool is_in_call)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		if (strcmp(function, reasons[i].function) == 0 &&
		    (reasons[i].is_for_call || !is_in_call))
			return reasons[i].reason;
	}
	return NULL;
}

const char *wait_frame_blocked(int32_t syscall, const struct frame *frames, size_t n,
			       char ret[WAIT_FRAME_BYTES])
{
	const char *reason = NULL;

	for (size_t i = 0; i < n && frames[i].kind == FRAME_KERNEL && !reason; i++)
		reason = reason_of(frames[i].name, syscall >= 0);
	if (!reason && syscall >= 0)
		reason = name_of_call(syscall);
	if (reason)
		snprintf(ret, WAIT_FRAME_BYTES, "[blocked: %s]", reason);
	else if (syscall >= 0)
		snprintf(ret, WAIT_FRAME_BYTES, "[blocked: system call %d]", (int)syscall);
	else
		snprintf(ret, WAIT_FRAME_BYTES, "[blocked]");
	return ret;
}

void wait_frame_waker(const struct sample_waker *waker, const char *told, char *ret, size_t size)
{
	const char *const name = told[0] ? told : waker->comm;

	if (waker->kind == WAKER_IRQ)
		snprintf(ret, size, "[woken by an interrupt]");
	else if (waker->kind == WAKER_SOFTIRQ)
		snprintf(ret, size, "[woken by a soft interrupt in %s]", name);
	else
		snprintf(ret, size, "[woken by %s]", name);
}
