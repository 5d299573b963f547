// SPDX-License-Identifier: Apache-2.0
/*
 * What is accounted of a process is at least nine tenths of what malloc has given for the process,
 * whatever the process does. malloc's own count is the truth here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "common/charged.h"
#include "code/inline_table.h"
#include "own_jvm.h"
#include "process/code_events.h"
#include "process/process_bytes.h"

#define NOW    UINT64_C(1000000000000)
#define MIB    (1u << 20)
#define LARGE  (2 * MIB) /* a flood takes as much, so that what is fixed does not matter */
#define LINES  1000
#define FRAMES 200

static struct process *process;
static uint8_t bytes[2 * MIB], table_bytes[MIB], section_bytes[MIB];
static struct wire_buf buf, table;
static uint64_t addr;

static int set_up(void **state)
{
	charged_begin();
	buf = (struct wire_buf){.data = bytes, .size = sizeof(bytes)};
	addr = 0x10000;
	process = own_jvm_new();
	process_open_session(process, 1, NOW);
	own_jvm_hear_hello(process, NOW);
	return 0;
}

static int tear_down(void **state)
{
	process_free(process);
	return 0;
}

/* Whatever has been said now: nine tenths of the memory are accounted, and it was a flood. */
static void check_charged(void)
{
	const size_t given = charged_given();

	print_message("%zu KiB given, %zu KiB accounted\n", given >> 10,
		      process_bytes(process) >> 10);
	assert_true(given > LARGE);
	assert_true(process_bytes(process) >= given / 10 * 9);
}

static void begin_table(uint32_t n_methods)
{
	table = (struct wire_buf){.data = table_bytes, .size = sizeof(table_bytes)};
	wire_encode_inline_count(&table, n_methods);
}

static void say_table(uint32_t size)
{
	struct wire_buf section = {.data = section_bytes, .size = sizeof(section_bytes)};

	assert_false(table.overflow);
	assert_true(wire_encode_section(&section, WIRE_SECTION_INLINE, table.data,
					(uint32_t)table.len));
	assert_true(wire_encode_method_load(&buf, 0,
					    &(struct wire_method_load){
						    .time_ns = 500,
						    .addr = addr,
						    .size = size,
						    .class_sig = wire_str_from("LMain;"),
						    .method = wire_str_from("run"),
						    .sections = section.data,
						    .sections_len = section.len,
					    }));
	own_jvm_hear(process, &buf, NOW);
	addr += size;
}

static void say_stub(const char *name, uint32_t size, uint64_t step)
{
	assert_true(wire_encode_stub(
		&buf, 0,
		&(struct wire_stub){
			.time_ns = 500, .addr = addr, .size = size, .name = wire_str_from(name)}));
	own_jvm_hear(process, &buf, NOW);
	addr += step;
}

static void code_is_accounted(void **state)
{
	for (int i = 0; i < 60000; i++)
		say_stub("stub", 64, 64);
	check_charged();
}

static void code_on_pages_of_its_own_is_accounted(void **state)
{
	for (int i = 0; i < 30000; i++)
		say_stub("stub", 64, 1u << 16);
	check_charged();
}

static void names_are_accounted(void **state)
{
	char name[64];

	for (int i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "%x", i);
		say_stub(name, 64, 0);
		if (i % 100 == 0)
			code_map_expire(process->code, CODE_TIME_FOREVER, 0);
	}
	check_charged();
}

static void methods_are_accounted(void **state)
{
	for (int i = 0; i < 40; i++) {
		begin_table(1000);
		for (int j = 0; j < 1000; j++)
			wire_encode_inline_method(
				&table, &(struct wire_method){.how = WIRE_METHOD_NAMED}, NULL);
		wire_encode_inline_count(&table, 0);
		say_table(64);
	}
	check_charged();
}

/* Lines that no class file can hold: neither accounted nor kept. */
static void lines_that_are_not_kept_take_nothing(void **state)
{
	static struct wire_line lines[LINES];
	const struct wire_method method = {.how = WIRE_METHOD_NAMED, .n_lines = LINES};

	for (size_t i = 0; i < LINES; i++)
		lines[i].bci = 1u << 20;
	for (int i = 0; i < 400; i++) {
		begin_table(100);
		for (int j = 0; j < 100; j++)
			wire_encode_inline_method(&table, &method, lines);
		wire_encode_inline_count(&table, 0);
		say_table(64);
	}
	check_charged();
	assert_true(charged_given() < 4 * LARGE); /* with the lines: 160 MiB */
}

static void lines_are_accounted(void **state)
{
	static struct wire_line lines[LINES];
	const struct wire_method method = {.how = WIRE_METHOD_NAMED, .n_lines = LINES};

	for (uint32_t i = 0; i < LINES; i++)
		lines[i] = (struct wire_line){i, 1};
	for (int i = 0; i < 20; i++) {
		begin_table(100);
		for (int j = 0; j < 100; j++)
			wire_encode_inline_method(&table, &method, lines);
		wire_encode_inline_count(&table, 0);
		say_table(64);
	}
	check_charged();
}

/* So many regions with so many frames each, said in some bytes a region. */
static void say_frames(uint32_t n)
{
	const struct wire_inline_frame frame = {.bci = 100000};
	struct wire_region region = {.size = 1, .depth = FRAMES};

	begin_table(1);
	wire_encode_inline_method(&table, &(struct wire_method){.how = WIRE_METHOD_SELF}, NULL);
	wire_encode_inline_count(&table, n);
	wire_encode_inline_region(&table, &region);
	for (uint32_t i = 0; i < FRAMES; i++)
		wire_encode_inline_frame(&table, &frame);
	region.shared = FRAMES;
	for (uint32_t i = 1; i < n; i++)
		wire_encode_inline_region(&table, &region);
	say_table(n);
}

static void frames_are_accounted(void **state)
{
	for (int i = 0; i < 20; i++)
		say_frames(10000);
	assert_int_equal(process->jvm->lost_inlines, 0);
	check_charged();
}

static void a_table_of_too_many_frames_is_lost(void **state)
{
	const uint32_t most = INLINE_TABLE_MAX_FRAMES / FRAMES * 16; /* a checkpoint each 16 */

	say_frames(most);
	assert_int_equal(process->jvm->lost_inlines, 0);
	say_frames(most + 17);
	assert_int_equal(process->jvm->lost_inlines, 1);
	assert_true(charged_given() < 4 * LARGE);
}

static void a_table_of_too_many_methods_is_lost(void **state)
{
	for (uint32_t n = INLINE_TABLE_MAX_METHODS; n <= INLINE_TABLE_MAX_METHODS + 1; n++) {
		begin_table(n);
		for (uint32_t i = 0; i < n; i++)
			wire_encode_inline_method(
				&table, &(struct wire_method){.how = WIRE_METHOD_NAMED}, NULL);
		wire_encode_inline_count(&table, 0);
		say_table(64);
		assert_int_equal(process->jvm->lost_inlines, n > INLINE_TABLE_MAX_METHODS);
	}
}

static void ids_are_accounted(void **state)
{
	static struct wire_line lines[LINES];

	for (uint32_t i = 0; i < LINES; i++)
		lines[i] = (struct wire_line){i, 1};
	for (uint32_t id = 1; id <= WIRE_METHOD_ID_MAX; id++) {
		begin_table(1);
		wire_encode_inline_method(
			&table,
			&(struct wire_method){.id = id, .how = WIRE_METHOD_NAMED, .n_lines = 1},
			lines);
		wire_encode_inline_count(&table, 0);
		addr = 0x10000;
		say_table(64);
	}
	check_charged();
}

static void threads_are_accounted(void **state)
{
	for (uint32_t i = 1; i < 40000; i++) {
		assert_true(wire_encode_thread(
			&buf, &(struct wire_thread){.tid = i, .name = wire_str_from("a thread")}));
		own_jvm_hear(process, &buf, NOW);
		process_set_comm(process, (pid_t)i, "comm", 1);
	}
	check_charged();
}

static void mappings_are_accounted(void **state)
{
	char path[64];

	for (uint64_t i = 0; i < ADDRESS_SPACE_MAX - 1000; i++) {
		snprintf(path, sizeof(path), "/lib/%04x", (unsigned)i);
		assert_int_equal(
			address_space_add(&process->space,
					  &(struct mapping){.start = 0x700000000000 + i * 8192,
							    .end = 0x700000001000 + i * 8192,
							    .inode = i + 1,
							    .path = path}),
			0);
	}
	for (uint64_t i = 0; i < 700; i++) {
		static char long_path[4096];

		memset(long_path, 'p', sizeof(long_path) - 1);
		address_space_add(&process->space,
				  &(struct mapping){.start = 0x700000000000 + i * 8192,
						    .end = 0x700000001000 + i * 8192,
						    .inode = i + 1,
						    .path = long_path});
	}
	check_charged();
}

static void a_hello_is_accounted(void **state)
{
	static struct wire_attr attrs[JVM_MAX_ATTRS];
	static char text[JVM_MAX_TEXT_BYTES / 2 + 1];
	struct wire_hello hello = {.pid = 1, .n_attrs = JVM_MAX_ATTRS};

	memset(text, 't', sizeof(text) - 1);
	for (size_t i = 0; i < JVM_MAX_ATTRS; i++)
		attrs[i] = (struct wire_attr){wire_str_from("key"), wire_str_from(text)};
	assert_true(wire_encode_hello(&buf, &hello, attrs, NULL));
	own_jvm_hear(process, &buf, NOW);
	assert_true(charged_given() > MIB / 2);
	assert_true(process_bytes(process) >= charged_given() / 10 * 9);
}

static void what_is_given_back_is_not_accounted(void **state)
{
	const size_t before = process_bytes(process);

	for (int i = 0; i < 20; i++)
		say_frames(10000);
	assert_true(process_bytes(process) > before + LARGE);
	code_map_remove(process->code, 0x10000, NOW);
	for (uint64_t at = 0x10000; at < addr; at += 10000)
		code_map_remove(process->code, at, NOW);
	code_map_expire(process->code, CODE_TIME_FOREVER, 0);
	assert_true(process_bytes(process) < before + LARGE / 4);
	assert_true(charged_given() < before + LARGE / 4);
}

static void a_process_in_the_graveyard_is_freed_bit_by_bit(void **state)
{
	struct graveyard graveyard = {0};
	unsigned steps = 0;

	for (int i = 0; i < 20000; i++)
		say_stub("stub", 64, 1u << 16);
	process->charged_bytes = process_bytes(process);
	graveyard_take(&graveyard, process);
	assert_int_equal(graveyard.bytes, process->charged_bytes);
	for (; graveyard.first; steps++)
		graveyard_step(&graveyard, 1);
	assert_true(steps > 100);
	assert_int_equal(graveyard.bytes, 0);
	assert_true(charged_given() < MIB);
	process = NULL;
}

#define BYTES_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BYTES_TEST(code_is_accounted),
		BYTES_TEST(code_on_pages_of_its_own_is_accounted),
		BYTES_TEST(names_are_accounted),
		BYTES_TEST(methods_are_accounted),
		BYTES_TEST(lines_that_are_not_kept_take_nothing),
		BYTES_TEST(lines_are_accounted),
		BYTES_TEST(frames_are_accounted),
		BYTES_TEST(a_table_of_too_many_frames_is_lost),
		BYTES_TEST(a_table_of_too_many_methods_is_lost),
		BYTES_TEST(ids_are_accounted),
		BYTES_TEST(threads_are_accounted),
		BYTES_TEST(mappings_are_accounted),
		BYTES_TEST(a_hello_is_accounted),
		BYTES_TEST(what_is_given_back_is_not_accounted),
		BYTES_TEST(a_process_in_the_graveyard_is_freed_bit_by_bit),
	};

	return charged_can_count() ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
