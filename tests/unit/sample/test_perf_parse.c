// SPDX-License-Identifier: Apache-2.0
/* Records as the kernel writes them, whole, cut and lying; the inputs are the fuzzer's seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/perf_parse.h"
#include "sample/sample_regs.h"
#include "sample/sampler.h"

static uint64_t data[512]; /* aligned as in a ring */

static size_t load(const char *name)
{
	char path[512];
	FILE *file;
	size_t len;

	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/perf_record/%s", FG_SOURCE_DIR, name);
	file = fopen(path, "rb");
	assert_non_null(file);
	len = fread(data, 1, sizeof(data), file);
	fclose(file);
	return len;
}

static void set_header(const struct perf_event_header *header)
{
	memcpy(data, header, sizeof(*header));
}

static struct record parse(const char *name)
{
	struct record record;

	assert_int_equal(perf_parse(data, load(name), PARSED_TYPE, &record), 1);
	return record;
}

static void sample_has_its_chain(void **state)
{
	const struct record r = parse("sample");

	assert_int_equal(r.kind, RECORD_SAMPLE);
	assert_int_equal(r.pid, 10);
	assert_int_equal(r.tid, 11);
	assert_int_equal(r.time_ns, 1000);
	assert_int_equal(r.cpu, 1);
	assert_int_equal(r.sample.period, 1);
	assert_int_equal(r.sample.kernel.len, 0);
	assert_int_equal(r.sample.user.len, 2);
	assert_int_equal(r.sample.user.addrs[1], 0x2000);
}

static void mapping_has_its_file(void **state)
{
	const struct record r = parse("mmap2");

	assert_int_equal(r.kind, RECORD_MMAP);
	assert_int_equal(r.mmap.addr, 0x1000);
	assert_int_equal(r.mmap.len, 0x2000);
	assert_int_equal(r.mmap.dev_major, 8);
	assert_int_equal(r.mmap.inode, 77);
	assert_string_equal(r.mmap.path, "/lib/libc.so.6");
	assert_int_equal(r.time_ns, 1000);
}

static void programs_forks_exits_and_losses(void **state)
{
	struct record r = parse("comm");

	assert_int_equal(r.kind, RECORD_EXEC);
	assert_int_equal(r.pid, 10);
	assert_int_equal(r.time_ns, 1000);
	r = parse("fork");
	assert_int_equal(r.kind, RECORD_FORK);
	assert_int_equal(r.pid, 10);
	assert_int_equal(r.tid, 11);
	assert_int_equal(r.fork.parent_pid, 9);
	r = parse("exit");
	assert_int_equal(r.kind, RECORD_EXIT);
	r = parse("lost");
	assert_int_equal(r.kind, RECORD_LOST);
	assert_int_equal(r.lost, 55);
}

static void a_name_that_a_thread_takes_is_of_no_interest(void **state)
{
	const size_t len = load("comm");
	struct record r = {.pid = 4711};

	set_header(&(struct perf_event_header){.type = PERF_RECORD_COMM, .size = (uint16_t)len});
	assert_int_equal(perf_parse(data, len, PARSED_TYPE, &r), 0);
	assert_int_equal(r.pid, 4711);
}

/* pid, tid, time, cpu, 0: what the tracepoint's event is asked for. */
static void a_sample_of_the_tracepoint_is_an_exec(void **state)
{
	const struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = 32};
	struct record r;

	set_header(&header);
	data[1] = UINT64_C(11) << 32 | 10;
	data[2] = 1000;
	data[3] = 1;
	assert_int_equal(perf_parse(data, 32, PARSED_TYPE_EXEC, &r), 1);
	assert_int_equal(r.kind, RECORD_EXEC);
	assert_int_equal(r.pid, 10);
	assert_int_equal(r.tid, 11);
	assert_int_equal(r.time_ns, 1000);
	assert_int_equal(r.cpu, 1);
	set_header(&(struct perf_event_header){.type = PERF_RECORD_SAMPLE, .size = 40});
	assert_int_equal(perf_parse(data, 40, PARSED_TYPE_EXEC, &r), -EBADMSG);
}

static void lies_are_refused(void **state)
{
	struct record r = {.pid = 4711};

	assert_int_equal(perf_parse(data, load("sample_lies"), PARSED_TYPE, &r), -EBADMSG);
	assert_int_equal(perf_parse(data, load("unterminated"), PARSED_TYPE, &r), -EBADMSG);
	assert_int_equal(r.pid, 4711); /* untouched */
}

static void cut_records_are_refused(void **state)
{
	static const char *const names[] = {"sample", "mmap2", "comm", "fork", "lost"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const size_t len = load(names[i]);
		struct record r;

		for (size_t cut = 8; cut < len; cut += 8)
			assert_int_equal(perf_parse(data, cut, PARSED_TYPE, &r), -EBADMSG);
	}
}

/* As put_ of the kernel's: header, addr, len, type, flags, name in 8-byte steps, sample ID. */
static size_t build_ksymbol(uint16_t type, uint16_t flags, const char *name)
{
	const struct perf_event_header header = {.type = PERF_RECORD_KSYMBOL,
						 .size = 8 + 16 + 24 + 24};
	unsigned char *p = (unsigned char *)data;
	const uint64_t addr = UINT64_C(0xffffffffc0100000), time_ns = 77;
	const uint32_t len = 512;

	memset(data, 0, sizeof(data));
	memcpy(p, &header, sizeof(header));
	memcpy(p + 8, &addr, sizeof(addr));
	memcpy(p + 16, &len, sizeof(len));
	memcpy(p + 20, &type, sizeof(type));
	memcpy(p + 22, &flags, sizeof(flags));
	memcpy(p + 24, name, strlen(name));
	memcpy(p + 48 + 8, &time_ns, sizeof(time_ns));
	return header.size;
}

static void kernel_code_comes_and_goes(void **state)
{
	struct record r;

	assert_int_equal(perf_parse(data, build_ksymbol(1, 0, "bpf_prog_12_name"), PARSED_TYPE, &r),
			 1);
	assert_int_equal(r.kind, RECORD_KSYMBOL);
	assert_int_equal(r.time_ns, 77);
	assert_int_equal(r.ksymbol.addr, UINT64_C(0xffffffffc0100000));
	assert_int_equal(r.ksymbol.len, 512);
	assert_string_equal(r.ksymbol.name, "bpf_prog_12_name");
	assert_true(r.ksymbol.is_bpf && !r.ksymbol.is_gone);
	assert_int_equal(
		perf_parse(data, build_ksymbol(2, 1, "ftrace_trampoline"), PARSED_TYPE, &r), 1);
	assert_true(!r.ksymbol.is_bpf && r.ksymbol.is_gone);
	assert_int_equal(
		perf_parse(data, build_ksymbol(1, 0, "a name without an end...."), PARSED_TYPE, &r),
		-EBADMSG);
}

static void unknown_types_are_of_no_interest(void **state)
{
	struct record r;
	const size_t len = load("fork");
	const uint32_t type = 4711;

	memcpy(data, &type, sizeof(type));
	assert_int_equal(perf_parse(data, len, PARSED_TYPE, &r), 0);
}

#define CHAIN_BYTES (8 + 48 + 3 * 8)
#define REGS_BYTES  (SAMPLE_REGS_COUNT * sizeof(uint64_t))
#define STACK_BYTES 64

static struct record record_of_stack;

static size_t append(size_t at, uint64_t value)
{
	memcpy((unsigned char *)data + at, &value, sizeof(value));
	return at + sizeof(value);
}

static void set_len(size_t len)
{
	struct perf_event_header header;

	memcpy(&header, data, sizeof(header));
	header.size = (uint16_t)len;
	memcpy(data, &header, sizeof(header));
}

/*
 * The corpus's sample with registers 100, 101... if abi is not 0, and 64 bytes 0, 1... of a stack
 * that says it is of size bytes, of which real are, unless size is 0.
 */
static size_t build(uint64_t abi, uint64_t size, uint64_t real)
{
	size_t at = load("sample");

	assert_int_equal(at, CHAIN_BYTES);
	at = append(at, abi);
	for (uint64_t i = 0; abi && i < SAMPLE_REGS_COUNT; i++)
		at = append(at, 100 + i);
	at = append(at, size);
	if (size > 0) {
		for (unsigned char i = 0; i < STACK_BYTES; i++)
			((unsigned char *)data)[at++] = i;
		at = append(at, real);
	}
	set_len(at);
	return at;
}

static int parse_built(uint64_t abi, uint64_t size, uint64_t real)
{
	return perf_parse(data, build(abi, size, real), PARSED_TYPE_STACK, &record_of_stack);
}

static void sample_has_its_registers_and_its_stack(void **state)
{
	const struct sample *sample = &record_of_stack.sample;

	assert_int_equal(parse_built(PERF_SAMPLE_REGS_ABI_64, STACK_BYTES, STACK_BYTES), 1);
	assert_int_equal(record_of_stack.time_ns, 1000);
	assert_int_equal(sample->user.len, 2);
	assert_int_equal(sample->user.addrs[1], 0x2000);
	assert_non_null(sample->regs);
	for (uint64_t i = 0; i < SAMPLE_REGS_COUNT; i++)
		assert_int_equal(sample->regs[i], 100 + i);
	assert_int_equal(sample->stack_len, STACK_BYTES);
	for (unsigned char i = 0; i < STACK_BYTES; i++)
		assert_int_equal(sample->stack[i], i);
}

static void registers_are_found_by_their_numbers(void **state)
{
	uint64_t regs[SAMPLE_REGS_COUNT];
	unsigned n = 0;

	for (unsigned i = 0; i < SAMPLE_REGS_COUNT; i++)
		regs[i] = 100 + i;
	for (unsigned reg = 0; reg < 64; reg++) {
		if (SAMPLE_REGS_MASK >> reg & 1)
			assert_int_equal(sample_regs_get(regs, reg), 100 + n++);
	}
	assert_int_equal(n, SAMPLE_REGS_COUNT);
#ifdef __x86_64__
	assert_int_equal(sample_regs_get(regs, PERF_REG_X86_AX), 100);
	assert_int_equal(sample_regs_get(regs, PERF_REG_X86_BP), 106);
	assert_int_equal(sample_regs_get(regs, SAMPLE_REG_SP), 107);
	assert_int_equal(sample_regs_get(regs, SAMPLE_REG_PC), 108);
	assert_int_equal(sample_regs_get(regs, PERF_REG_X86_R8), 109);
	assert_int_equal(sample_regs_get(regs, PERF_REG_X86_R15), 116);
#endif
}

static void stack_ends_where_the_kernel_could_not_read_on(void **state)
{
	assert_int_equal(parse_built(PERF_SAMPLE_REGS_ABI_64, STACK_BYTES, 13), 1);
	assert_int_equal(record_of_stack.sample.stack_len, 13);
	assert_int_equal(record_of_stack.sample.stack[12], 12);
	assert_int_equal(parse_built(PERF_SAMPLE_REGS_ABI_64, STACK_BYTES, 0), 1);
	assert_non_null(record_of_stack.sample.regs);
	assert_null(record_of_stack.sample.stack);
	assert_int_equal(record_of_stack.sample.stack_len, 0);
}

static void check_none(uint64_t abi, uint64_t size)
{
	assert_int_equal(parse_built(abi, size, size), 1);
	assert_int_equal(record_of_stack.sample.user.len, 2);
	assert_null(record_of_stack.sample.regs);
	assert_null(record_of_stack.sample.stack);
	assert_int_equal(record_of_stack.sample.stack_len, 0);
}

static void kernel_threads_and_32_bit_processes_have_neither(void **state)
{
	check_none(PERF_SAMPLE_REGS_ABI_NONE, 0);
	check_none(PERF_SAMPLE_REGS_ABI_NONE, STACK_BYTES);
	check_none(PERF_SAMPLE_REGS_ABI_32, 0);
	check_none(PERF_SAMPLE_REGS_ABI_32, STACK_BYTES);
}

static void who_does_not_ask_for_a_stack_gets_none(void **state)
{
	const struct record r = parse("sample");

	assert_null(r.sample.regs);
	assert_null(r.sample.stack);
	assert_int_equal(r.sample.stack_len, 0);
}

static void check_lie(uint64_t size, uint64_t real)
{
	record_of_stack = (struct record){.pid = 4711};
	assert_int_equal(parse_built(PERF_SAMPLE_REGS_ABI_64, size, real), -EBADMSG);
	assert_int_equal(record_of_stack.pid, 4711);
}

static void lies_about_the_stack_are_refused(void **state)
{
	check_lie(STACK_BYTES, STACK_BYTES + 1);
	check_lie(STACK_BYTES, UINT64_MAX);
	check_lie(STACK_BYTES + 8, 0); /* no room for how much is real */
	check_lie(STACK_BYTES + 9, 0);
	check_lie(UINT64_MAX, 0);
	check_lie(UINT64_MAX - 7, 0);
	check_lie(UINT64_C(1) << 63, 0);
}

/* In a block of its own size, so that a sanitizer sees a read past its end. */
static void samples_with_a_stack_are_refused_at_every_cut(void **state)
{
	const size_t len = build(PERF_SAMPLE_REGS_ABI_64, STACK_BYTES, STACK_BYTES);

	assert_int_equal(len, CHAIN_BYTES + 8 + REGS_BYTES + 8 + STACK_BYTES + 8);
	for (size_t cut = sizeof(struct perf_event_header); cut <= len; cut++) {
		void *block = malloc(cut);
		const int expected = cut == len ? 1 : -EBADMSG;

		set_len(cut);
		memcpy(block, data, cut);
		assert_int_equal(perf_parse(block, cut, PARSED_TYPE_STACK, &record_of_stack),
				 expected);
		free(block);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample_has_its_chain),
		cmocka_unit_test(mapping_has_its_file),
		cmocka_unit_test(programs_forks_exits_and_losses),
		cmocka_unit_test(a_name_that_a_thread_takes_is_of_no_interest),
		cmocka_unit_test(a_sample_of_the_tracepoint_is_an_exec),
		cmocka_unit_test(lies_are_refused),
		cmocka_unit_test(cut_records_are_refused),
		cmocka_unit_test(kernel_code_comes_and_goes),
		cmocka_unit_test(unknown_types_are_of_no_interest),
		cmocka_unit_test(sample_has_its_registers_and_its_stack),
		cmocka_unit_test(registers_are_found_by_their_numbers),
		cmocka_unit_test(stack_ends_where_the_kernel_could_not_read_on),
		cmocka_unit_test(kernel_threads_and_32_bit_processes_have_neither),
		cmocka_unit_test(who_does_not_ask_for_a_stack_gets_none),
		cmocka_unit_test(lies_about_the_stack_are_refused),
		cmocka_unit_test(samples_with_a_stack_are_refused_at_every_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
