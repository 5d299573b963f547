// SPDX-License-Identifier: Apache-2.0
/* Claims about unwind/stack.h: the kernel's call chains become stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/perf_event.h>

#include "sample/perf_parse.h"
#include "unwind/stack.h"

static struct stack stack;

static void from(const uint64_t *chain, uint32_t len)
{
	struct sample sample = {0};

	perf_split_chain(chain, len, &sample);
	stack_from_chain(&sample, &stack);
}

static void parts_are_told_apart_by_their_marks(void **state)
{
	const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffff1, 0xffff2,
				  (uint64_t)PERF_CONTEXT_USER,	 0x10,	  0x20};

	from(chain, 6);
	assert_int_equal(stack.depth, 4);
	assert_true(stack.entries[0].is_kernel && !stack.entries[0].is_return);
	assert_true(stack.entries[1].is_kernel && stack.entries[1].is_return);
	assert_true(!stack.entries[2].is_kernel && !stack.entries[2].is_return);
	assert_true(!stack.entries[3].is_kernel && stack.entries[3].is_return);
	assert_int_equal(stack.entries[3].addr, 0x20);
	assert_int_equal(stack.end, STACK_BY_FP);
}

static void a_return_address_is_probed_at_the_call(void **state)
{
	assert_int_equal(stack_probe(&(struct stack_entry){.addr = 0x20, .is_return = true}), 0x1f);
	assert_int_equal(stack_probe(&(struct stack_entry){.addr = 0x20}), 0x20);
	assert_int_equal(stack_probe(&(struct stack_entry){.addr = 0, .is_return = true}), 0);
}

static void hypervisor_and_guest_parts_are_left_out(void **state)
{
	const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_HV, 1, (uint64_t)PERF_CONTEXT_USER, 2};

	from(chain, 4);
	assert_int_equal(stack.depth, 1);
	assert_int_equal(stack.entries[0].addr, 2);
}

static void a_chain_at_the_limit_is_cut(void **state)
{
	uint64_t chain[STACK_MAX + 10];

	chain[0] = (uint64_t)PERF_CONTEXT_USER;
	for (uint32_t i = 1; i < STACK_MAX + 10; i++)
		chain[i] = 0x1000 + i;
	from(chain, 127);
	assert_int_equal(stack.end, STACK_BY_FP);
	assert_int_equal(stack.depth, 126);
	from(chain, 128);
	assert_int_equal(stack.end, STACK_FRAME_LIMIT);
	from(chain, STACK_MAX + 10);
	assert_int_equal(stack.end, STACK_FRAME_LIMIT);
	assert_int_equal(stack.depth, STACK_MAX);
	from(chain, 0);
	assert_int_equal(stack.depth, 0);
	assert_int_equal(stack.end, STACK_BY_FP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_told_apart_by_their_marks),
		cmocka_unit_test(a_return_address_is_probed_at_the_call),
		cmocka_unit_test(hypervisor_and_guest_parts_are_left_out),
		cmocka_unit_test(a_chain_at_the_limit_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
