// SPDX-License-Identifier: Apache-2.0
/* Records of the BPF programs of waits, whole and broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "sample/bpf_waits_layout.h"
#include "wall/bpf_waits_parse.h"

#define STACK 256

struct bytes {
	struct bpf_wait_head head;
	uint8_t copy[STACK];
};

static struct bytes whole(void)
{
	struct bytes bytes = {
		.head = {.time_ns = 1,
			 .start_ns = 2,
			 .since_ns = 13,
			 .blocked_ns = 3,
			 .weight_ns = 4,
			 .sp = 5,
			 .pid = 6,
			 .tid = 7,
			 .flags = BPF_WAIT_HAS_REGS | BPF_WAIT_IS_CUT,
			 .n_waits = 8,
			 .syscall = 202,
			 .n_kernel = 2,
			 .stack_len = STACK,
			 .comm = "fifteen letters",
			 .waker = {.kind = BPF_WAKER_THREAD, .pid = 9, .tid = 10},
			 .regs = {77},
			 .kernel = {11, 12}},
	};

	memcpy(bytes.head.waker.comm, "sixteen letters!", BPF_WAIT_COMM_BYTES);
	bytes.copy[1] = 99;
	return bytes;
}

static struct wait_reading read_whole(const struct bytes *bytes)
{
	struct wait_reading wait;

	assert_int_equal(bpf_waits_parse(bytes, sizeof(*bytes), &wait), 0);
	return wait;
}

static void a_wait_has_all_its_parts(void **state)
{
	const struct bytes bytes = whole();
	const struct wait_reading wait = read_whole(&bytes);

	(void)state;
	assert_int_equal(wait.time_ns, 1);
	assert_int_equal(wait.start_ns, 2);
	assert_int_equal(wait.blocked_ns, 3);
	assert_int_equal(wait.weight_ns, 4);
	assert_int_equal(wait.pid, 6);
	assert_int_equal(wait.tid, 7);
	assert_int_equal(wait.n_waits, 8);
	assert_string_equal(wait.comm, "fifteen letters");
	assert_true(wait.is_cut);
	assert_int_equal(wait.syscall, 202);
	assert_int_equal(wait.regs[0], 77);
	assert_int_equal(wait.kernel.len, 2);
	assert_int_equal(wait.kernel.addrs[1], 12);
	assert_int_equal(wait.stack_len, STACK);
	assert_int_equal(wait.stack[1], 99);
	assert_int_equal(wait.waker.kind, WAKER_THREAD);
	assert_int_equal(wait.waker.pid, 9);
	assert_int_equal(wait.waker.tid, 10);
	assert_string_equal(wait.waker.comm, "sixteen letters!");
	assert_false(wait.is_waker);
	assert_int_equal(wait.since_ns, 13);
}

static void the_stack_of_a_waker_says_of_which_wait(void **state)
{
	struct bytes bytes = whole();
	struct wait_reading wait;

	(void)state;
	bytes.head.flags = BPF_WAIT_HAS_REGS | BPF_WAIT_IS_WAKER;
	bytes.head.waited_tid = 14;
	wait = read_whole(&bytes);
	assert_true(wait.is_waker);
	assert_int_equal(wait.waited_tid, 14);
	assert_int_equal(wait.since_ns, 13);
	assert_int_equal(wait.tid, 7);
	assert_int_equal(wait.stack_len, STACK);
}

static void a_waker_of_no_known_kind_is_none(void **state)
{
	struct bytes bytes = whole();
	struct wait_reading wait;

	(void)state;
	bytes.head.waker.kind = BPF_WAKER_IRQ + 1;
	wait = read_whole(&bytes);
	assert_int_equal(wait.waker.kind, WAKER_UNKNOWN);
	assert_int_equal(wait.waker.tid, 0);
	assert_string_equal(wait.waker.comm, "");
	bytes.head.waker.kind = BPF_WAKER_SOFTIRQ;
	assert_int_equal(read_whole(&bytes).waker.kind, WAKER_SOFTIRQ);
	bytes.head.waker.kind = BPF_WAKER_IRQ;
	assert_int_equal(read_whole(&bytes).waker.kind, WAKER_IRQ);
}

static void without_registers_there_is_no_stack(void **state)
{
	struct bytes bytes = whole();
	struct wait_reading wait;

	(void)state;
	bytes.head.flags = 0;
	wait = read_whole(&bytes);
	assert_null(wait.regs);
	assert_null(wait.stack);
	assert_int_equal(wait.stack_len, 0);
	assert_false(wait.is_cut);
}

static void a_stack_of_no_bytes_is_none(void **state)
{
	struct bytes bytes = whole();
	struct wait_reading wait;

	(void)state;
	bytes.head.stack_len = 0;
	bytes.head.n_kernel = 0;
	bytes.head.syscall = -22;
	assert_int_equal(bpf_waits_parse(&bytes, sizeof(bytes.head), &wait), 0);
	assert_null(wait.stack);
	assert_null(wait.kernel.addrs);
	assert_non_null(wait.regs);
	assert_int_equal(wait.syscall, -1);
}

static void check_broken(const struct bytes *bytes, size_t len)
{
	struct wait_reading wait = {.pid = 4711};

	assert_int_equal(bpf_waits_parse(bytes, len, &wait), -EBADMSG);
	assert_int_equal(wait.pid, 4711);
}

static void lengths_that_do_not_fit_are_broken(void **state)
{
	struct bytes bytes = whole();

	(void)state;
	check_broken(&bytes, 0);
	check_broken(&bytes, sizeof(bytes.head) - 1);
	check_broken(&bytes, sizeof(bytes) - 1);
	bytes.head.n_kernel = BPF_WAIT_MAX_KERNEL + 1;
	check_broken(&bytes, sizeof(bytes));
	bytes = whole();
	bytes.head.stack_len = UINT32_MAX;
	check_broken(&bytes, sizeof(bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_has_all_its_parts),
		cmocka_unit_test(a_waker_of_no_known_kind_is_none),
		cmocka_unit_test(the_stack_of_a_waker_says_of_which_wait),
		cmocka_unit_test(without_registers_there_is_no_stack),
		cmocka_unit_test(a_stack_of_no_bytes_is_none),
		cmocka_unit_test(lengths_that_do_not_fit_are_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
