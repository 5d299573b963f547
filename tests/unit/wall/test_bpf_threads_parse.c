// SPDX-License-Identifier: Apache-2.0
/* Records of the BPF program of threads, whole and broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "sample/bpf_threads_layout.h"
#include "wall/bpf_threads_parse.h"

#define STACK 256

struct bytes {
	struct bpf_thread_head head;
	struct bpf_thread_stack stack;
	uint8_t copy[STACK];
};

static struct bytes whole(void)
{
	struct bytes bytes = {
		.head = {.time_ns = 1,
			 .start_ns = 2,
			 .run_ns = 3,
			 .delay_ns = 4,
			 .switches = 5,
			 .voluntary = 3,
			 .pid = 6,
			 .tid = 7,
			 .flags = BPF_THREAD_HAS_STACK | BPF_THREAD_IS_CUT,
			 .state = 1,
			 .stack_len = STACK,
			 .comm = "fifteen letters"},
		.stack = {.syscall = 202, .n_kernel = 2, .regs = {77}, .kernel = {11, 12}},
	};

	bytes.copy[1] = 99;
	return bytes;
}

static void a_reading_has_all_its_parts(void **state)
{
	const struct bytes bytes = whole();
	struct thread_reading reading;

	assert_int_equal(bpf_threads_parse(&bytes, sizeof(bytes), &reading), 0);
	assert_int_equal(reading.time_ns, 1);
	assert_int_equal(reading.start_ns, 2);
	assert_int_equal(reading.run_ns, 3);
	assert_int_equal(reading.delay_ns, 4);
	assert_int_equal(reading.switches, 5);
	assert_int_equal(reading.voluntary, 3);
	assert_int_equal(reading.pid, 6);
	assert_int_equal(reading.tid, 7);
	assert_string_equal(reading.comm, "fifteen letters");
	assert_int_equal(reading.state, THREAD_BLOCKED);
	assert_true(reading.has_stack && reading.is_cut && !reading.is_changed);
	assert_int_equal(reading.syscall, 202);
	assert_int_equal(reading.regs[0], 77);
	assert_int_equal(reading.kernel.len, 2);
	assert_int_equal(reading.kernel.addrs[1], 12);
	assert_int_equal(reading.stack_len, STACK);
	assert_int_equal(reading.stack[1], 99);
}

static enum thread_state state_of(uint32_t flags, uint32_t kernel_state)
{
	struct bytes bytes = whole();
	struct thread_reading reading;

	bytes.head.flags = flags;
	bytes.head.state = kernel_state;
	assert_int_equal(bpf_threads_parse(&bytes, sizeof(bytes.head), &reading), 0);
	assert_false(reading.has_stack);
	assert_int_equal(reading.syscall, -1);
	assert_null(reading.regs);
	return reading.state;
}

static void the_state_is_told_by_the_cpu_and_not_by_the_queue(void **state)
{
	assert_int_equal(state_of(BPF_THREAD_ON_CPU | BPF_THREAD_ON_RQ, 0), THREAD_RUNNING);
	assert_int_equal(state_of(BPF_THREAD_ON_CPU | BPF_THREAD_ON_RQ, 1), THREAD_RUNNING);
	assert_int_equal(state_of(BPF_THREAD_ON_RQ, 0), THREAD_RUNNABLE);
	assert_int_equal(state_of(0, 1), THREAD_BLOCKED);
	assert_int_equal(state_of(BPF_THREAD_ON_RQ, 1), THREAD_BLOCKED); /* its leaving is late */
}

static void check_broken(const struct bytes *bytes, size_t len)
{
	struct thread_reading reading = {.pid = 4711};

	assert_int_equal(bpf_threads_parse(bytes, len, &reading), -EBADMSG);
	assert_int_equal(reading.pid, 4711);
}

static void lengths_that_do_not_fit_are_broken(void **state)
{
	struct bytes bytes = whole();

	check_broken(&bytes, 0);
	check_broken(&bytes, sizeof(bytes.head) - 1);
	check_broken(&bytes, sizeof(bytes.head) + sizeof(bytes.stack) - 1);
	check_broken(&bytes, sizeof(bytes) - 1);
	bytes.stack.n_kernel = BPF_THREAD_MAX_KERNEL + 1;
	check_broken(&bytes, sizeof(bytes));
	bytes = whole();
	bytes.head.stack_len = UINT32_MAX;
	check_broken(&bytes, sizeof(bytes));
}

static void a_stack_of_no_bytes_is_none(void **state)
{
	struct bytes bytes = whole();
	struct thread_reading reading;

	bytes.head.stack_len = 0;
	bytes.stack.n_kernel = 0;
	assert_int_equal(bpf_threads_parse(&bytes, sizeof(bytes), &reading), 0);
	assert_true(reading.has_stack);
	assert_null(reading.stack);
	assert_null(reading.kernel.addrs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reading_has_all_its_parts),
		cmocka_unit_test(the_state_is_told_by_the_cpu_and_not_by_the_queue),
		cmocka_unit_test(lengths_that_do_not_fit_are_broken),
		cmocka_unit_test(a_stack_of_no_bytes_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
