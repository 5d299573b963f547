// SPDX-License-Identifier: Apache-2.0
/* Records as the kernel writes them, whole, cut and lying; the inputs are the fuzzer's seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sample/perf_record.h"

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

static struct perf_record parse(const char *name)
{
	struct perf_record record;

	assert_int_equal(perf_parse(data, load(name), &record), 1);
	return record;
}

static void sample_has_its_chain(void **state)
{
	const struct perf_record r = parse("sample");

	(void)state;
	assert_int_equal(r.kind, PERF_SAMPLE);
	assert_int_equal(r.pid, 10);
	assert_int_equal(r.tid, 11);
	assert_int_equal(r.time_ns, 1000);
	assert_int_equal(r.cpu, 1);
	assert_int_equal(r.sample.period, 1);
	assert_int_equal(r.sample.chain_len, 3);
	assert_int_equal(r.sample.chain[2], 0x2000);
}

static void mapping_has_its_file(void **state)
{
	const struct perf_record r = parse("mmap2");

	(void)state;
	assert_int_equal(r.kind, PERF_MMAP);
	assert_int_equal(r.mmap.addr, 0x1000);
	assert_int_equal(r.mmap.len, 0x2000);
	assert_int_equal(r.mmap.dev_major, 8);
	assert_int_equal(r.mmap.inode, 77);
	assert_string_equal(r.mmap.path, "/lib/libc.so.6");
	assert_int_equal(r.time_ns, 1000);
}

static void names_forks_exits_and_losses(void **state)
{
	struct perf_record r = parse("comm");

	(void)state;
	assert_int_equal(r.kind, PERF_COMM);
	assert_string_equal(r.comm.name, "java");
	assert_true(r.comm.is_exec);
	r = parse("fork");
	assert_int_equal(r.kind, PERF_FORK);
	assert_int_equal(r.pid, 10);
	assert_int_equal(r.tid, 11);
	assert_int_equal(r.fork.parent_pid, 9);
	r = parse("exit");
	assert_int_equal(r.kind, PERF_EXIT);
	r = parse("lost");
	assert_int_equal(r.kind, PERF_LOST);
	assert_int_equal(r.lost, 55);
}

static void lies_are_refused(void **state)
{
	struct perf_record r = {.pid = 4711};

	(void)state;
	assert_int_equal(perf_parse(data, load("sample_lies"), &r), -EBADMSG);
	assert_int_equal(perf_parse(data, load("unterminated"), &r), -EBADMSG);
	assert_int_equal(r.pid, 4711); /* untouched */
}

static void cut_records_are_refused(void **state)
{
	static const char *const names[] = {"sample", "mmap2", "comm", "fork", "lost"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const size_t len = load(names[i]);
		struct perf_record r;

		for (size_t cut = 8; cut < len; cut += 8)
			assert_int_equal(perf_parse(data, cut, &r), -EBADMSG);
	}
}

static void unknown_types_are_of_no_interest(void **state)
{
	struct perf_record r;
	const size_t len = load("fork");
	const uint32_t type = 4711;

	(void)state;
	memcpy(data, &type, sizeof(type));
	assert_int_equal(perf_parse(data, len, &r), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample_has_its_chain),
		cmocka_unit_test(mapping_has_its_file),
		cmocka_unit_test(names_forks_exits_and_losses),
		cmocka_unit_test(lies_are_refused),
		cmocka_unit_test(cut_records_are_refused),
		cmocka_unit_test(unknown_types_are_of_no_interest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
