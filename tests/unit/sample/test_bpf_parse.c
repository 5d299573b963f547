// SPDX-License-Identifier: Apache-2.0
/* Records of the BPF program, whole and broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "sample/bpf_layout.h"
#include "sample/bpf_parse.h"
#include "sample/sample_regs.h"

#define PAGE   BPF_PAGE_BYTES
#define SP     UINT64_C(0x7ffd00001230)
#define STACK  256
#define KERNEL 2
#define USER   3

struct bytes {
	struct bpf_sample_head head;
	uint64_t chains[KERNEL + USER];
	uint8_t stack[STACK];
};

/* A record with all parts; its copy begins below bytes under the stack pointer. */
static struct bytes whole(uint32_t below)
{
	struct bytes bytes = {
		.head = {.time_ns = 5,
			 .pid = 6,
			 .tid = 7,
			 .cpu = 1,
			 .flags = BPF_HAS_REGS,
			 .period = 8,
			 .weight = 9,
			 .sp = SP,
			 .stack_addr = SP - below,
			 .missing = 2,
			 .stack_off = offsetof(struct bytes, stack),
			 .stack_len = STACK,
			 .n_kernel = KERNEL,
			 .n_user = USER,
			 .comm = "worker"},
		.chains = {11, 12, 21, 22, 23},
	};

	bytes.head.regs[0] = 77;
	for (unsigned i = 0; i < STACK; i++)
		bytes.stack[i] = (uint8_t)i;
	return bytes;
}

static void a_record_has_all_its_parts(void **state)
{
	const struct bytes bytes = whole(0);
	struct record record;

	assert_int_equal(bpf_parse(&bytes, sizeof(bytes), &record), 0);
	assert_int_equal(record.kind, RECORD_SAMPLE);
	assert_int_equal(record.time_ns, 5);
	assert_int_equal(record.pid, 6);
	assert_int_equal(record.tid, 7);
	assert_int_equal(record.cpu, 1);
	assert_int_equal(record.sample.period, 8);
	assert_int_equal(record.sample.weight, 9);
	assert_int_equal(record.sample.kernel.len, KERNEL);
	assert_int_equal(record.sample.kernel.addrs[1], 12);
	assert_int_equal(record.sample.user.len, USER);
	assert_int_equal(record.sample.user.addrs[2], 23);
	assert_int_equal(record.sample.regs[0], 77);
	assert_int_equal(record.sample.stack_len, STACK);
	assert_int_equal(record.sample.stack[1], 1);
	assert_int_equal(record.sample.unread_pages, 2);
	assert_string_equal(record.sample.comm, "worker");
}

static void a_name_that_fills_its_bytes_is_terminated(void **state)
{
	struct bytes bytes = whole(0);
	struct record record;

	memset(bytes.head.comm, 'x', sizeof(bytes.head.comm));
	assert_int_equal(bpf_parse(&bytes, sizeof(bytes), &record), 0);
	assert_int_equal(strlen(record.sample.comm), sizeof(bytes.head.comm) - 1);
}

static void a_copy_that_begins_below_the_stack_pointer_is_cut_to_it(void **state)
{
	const struct bytes bytes = whole(16);
	struct record record;

	assert_int_equal(bpf_parse(&bytes, sizeof(bytes), &record), 0);
	assert_int_equal(record.sample.stack_len, STACK - 16);
	assert_int_equal(record.sample.stack[0], 16);
}

static void a_copy_that_ends_below_the_stack_pointer_is_none(void **state)
{
	const struct bytes bytes = whole(STACK);
	struct record record;

	assert_int_equal(bpf_parse(&bytes, sizeof(bytes), &record), 0);
	assert_int_equal(record.sample.stack_len, 0);
	assert_null(record.sample.stack);
	assert_non_null(record.sample.regs);
}

static void a_sample_without_registers_has_no_stack(void **state)
{
	struct bytes bytes = whole(0);
	struct record record;

	bytes.head.flags = 0;
	assert_int_equal(bpf_parse(&bytes, sizeof(bytes), &record), 0);
	assert_null(record.sample.regs);
	assert_int_equal(record.sample.stack_len, 0);
}

static void set_arg(struct bytes *bytes, unsigned perf_reg, uint64_t value)
{
	const uint64_t below = (UINT64_C(1) << perf_reg) - 1;

	bytes->head.regs[__builtin_popcountll(SAMPLE_REGS_MASK & below)] = value;
}

#if defined(__x86_64__)
#define ARG_1 PERF_REG_X86_DI
#define ARG_2 PERF_REG_X86_SI
#define ARG_3 PERF_REG_X86_DX
#define ARG_4 PERF_REG_X86_CX
#define ARG_5 PERF_REG_X86_R8
#define ARG_6 PERF_REG_X86_R9
#else
#define ARG_1 PERF_REG_ARM64_X0
#define ARG_2 PERF_REG_ARM64_X1
#define ARG_3 PERF_REG_ARM64_X2
#define ARG_4 PERF_REG_ARM64_X3
#define ARG_5 PERF_REG_ARM64_X4
#define ARG_6 PERF_REG_ARM64_X5
#endif

/* What a probe has told lies in the registers in which C passes arguments, or in the head. */
static void a_probe_tells_by_its_arguments(void **state)
{
	static const struct {
		unsigned kind;
		enum sample_of of;
		struct sample_probe probe;
	} cases[] = {
		{BPF_KIND_ALLOC,
		 SAMPLE_OF_ALLOC,
		 {.text = 101, .amount = 102, .interval = 103, .objects = {104}, .round = 105}},
		{BPF_KIND_DEAD,
		 SAMPLE_OF_DEAD,
		 {.objects = {102, 103, 104, 105, 106}, .round = 101}},
		{BPF_KIND_ENTER, SAMPLE_OF_ENTER, {.text = 101, .wait = 102}},
		{BPF_KIND_ENTERED, SAMPLE_OF_ENTERED, {.amount = 102, .wait = 103}},
		{BPF_KIND_PARK_END, SAMPLE_OF_PARK, {.amount = 8, .interval = 10}},
		{BPF_KIND_EXCEPTION, SAMPLE_OF_EXCEPTION, {0}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes bytes = whole(0);
		struct record record;

		bytes.head.flags |= cases[i].kind << BPF_KIND_SHIFT;
		bytes.head.wait = 10;
		set_arg(&bytes, ARG_1, 101);
		set_arg(&bytes, ARG_2, 102);
		set_arg(&bytes, ARG_3, 103);
		set_arg(&bytes, ARG_4, 104);
		set_arg(&bytes, ARG_5, 105);
		set_arg(&bytes, ARG_6, 106);
		assert_int_equal(bpf_parse(&bytes, sizeof(bytes), &record), 0);
		assert_int_equal(record.sample.kind, cases[i].of);
		assert_true(record.sample.is_exact);
		assert_int_equal(record.sample.weight, 9);
		assert_int_equal(record.sample.probe.text, cases[i].probe.text);
		assert_int_equal(record.sample.probe.amount, cases[i].probe.amount);
		assert_int_equal(record.sample.probe.interval, cases[i].probe.interval);
		assert_int_equal(record.sample.probe.wait, cases[i].probe.wait);
		assert_int_equal(record.sample.probe.round, cases[i].probe.round);
		assert_memory_equal(record.sample.probe.objects, cases[i].probe.objects,
				    sizeof(cases[i].probe.objects));
	}
}

static void check_broken(const struct bytes *bytes, size_t len)
{
	struct record record = {.pid = 4711};

	assert_int_equal(bpf_parse(bytes, len, &record), -EBADMSG);
	assert_int_equal(record.pid, 4711);
}

static void lengths_that_do_not_fit_are_broken(void **state)
{
	struct bytes bytes = whole(0);

	check_broken(&bytes, 0);
	check_broken(&bytes, sizeof(bytes.head) - 1);
	check_broken(&bytes, sizeof(bytes.head) + sizeof(bytes.chains) - 1);
	check_broken(&bytes, sizeof(bytes) - 1);
	bytes.head.n_kernel = BPF_MAX_CHAIN + 1;
	check_broken(&bytes, sizeof(bytes));
	bytes = whole(0);
	bytes.head.n_user = UINT32_MAX;
	check_broken(&bytes, sizeof(bytes));
	bytes = whole(0);
	bytes.head.stack_off = UINT32_MAX;
	check_broken(&bytes, sizeof(bytes));
	bytes = whole(0);
	bytes.head.stack_len = STACK + 1;
	check_broken(&bytes, sizeof(bytes));
	bytes = whole(0);
	bytes.head.stack_addr = SP - PAGE;
	check_broken(&bytes, sizeof(bytes));
	bytes.head.stack_addr = SP + 8;
	check_broken(&bytes, sizeof(bytes));
}

static void kinds_that_are_not_known_are_broken(void **state)
{
	struct bytes bytes = whole(0);

	bytes.head.flags |= BPF_KINDS << BPF_KIND_SHIFT;
	check_broken(&bytes, sizeof(bytes));
	bytes.head.flags = BPF_HAS_REGS | BPF_KIND_PARK << BPF_KIND_SHIFT; /* tells nothing */
	check_broken(&bytes, sizeof(bytes));
	bytes.head.flags = BPF_KIND_ALLOC << BPF_KIND_SHIFT; /* no registers */
	check_broken(&bytes, sizeof(bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_has_all_its_parts),
		cmocka_unit_test(a_name_that_fills_its_bytes_is_terminated),
		cmocka_unit_test(a_copy_that_begins_below_the_stack_pointer_is_cut_to_it),
		cmocka_unit_test(a_copy_that_ends_below_the_stack_pointer_is_none),
		cmocka_unit_test(a_sample_without_registers_has_no_stack),
		cmocka_unit_test(lengths_that_do_not_fit_are_broken),
		cmocka_unit_test(a_probe_tells_by_its_arguments),
		cmocka_unit_test(kinds_that_are_not_known_are_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
