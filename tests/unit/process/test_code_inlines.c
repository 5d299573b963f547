// SPDX-License-Identifier: Apache-2.0
/* From METHOD_LOAD's inline table to frames; the process is this test's own. */
#include "process/code_inlines.h"
#include "own_jvm.h"

#include "maps/code_lines.h"
#include "process/code_events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NOW  UINT64_C(1000000000000)
#define ADDR UINT64_C(0x10000)
#define SIZE 64u

static struct process *process;
static uint8_t table_bytes[1u << 20], section_bytes[1u << 20], record_bytes[2u << 20];
static struct wire_buf table, record;

/* ---- helpers ---- */

static void begin_table(uint32_t n_methods)
{
	table = (struct wire_buf){.data = table_bytes, .size = sizeof(table_bytes)};
	wire_encode_inline_count(&table, n_methods);
}

static void known(uint32_t id)
{
	wire_encode_inline_method(&table, &(struct wire_method){.id = id, .how = WIRE_METHOD_KNOWN},
				  NULL);
}

static void self(uint32_t id, const struct wire_line *lines, uint32_t n_lines)
{
	wire_encode_inline_method(
		&table,
		&(struct wire_method){.id = id, .how = WIRE_METHOD_SELF, .n_lines = n_lines},
		lines);
}

static void named(uint32_t id, const char *name)
{
	const struct wire_line lines[] = {{0, 100}, {20, 120}, {10, 110}};

	wire_encode_inline_method(&table,
				  &(struct wire_method){.id = id,
							.how = WIRE_METHOD_NAMED,
							.class_sig = wire_str_from("Lcom/acme/In;"),
							.name = wire_str_from(name),
							.sig = wire_str_from("(I)V"),
							.source_file = wire_str_from("In.java"),
							.n_lines = 3},
				  lines);
}

static void region(uint32_t size, uint32_t depth, uint32_t shared)
{
	wire_encode_inline_region(
		&table, &(struct wire_region){.size = size, .depth = depth, .shared = shared});
}

static void frame(uint32_t method, int32_t bci)
{
	wire_encode_inline_frame(&table, &(struct wire_inline_frame){.method = method, .bci = bci});
}

static void send_load(uint64_t addr, const char *class_sig, const char *method, uint16_t flags)
{
	struct wire_buf section = {.data = section_bytes, .size = sizeof(section_bytes)};

	assert_false(table.overflow);
	assert_true(wire_encode_section(&section, WIRE_SECTION_INLINE, table.data,
					(uint32_t)table.len));
	record = (struct wire_buf){.data = record_bytes, .size = sizeof(record_bytes)};
	assert_true(wire_encode_method_load(&record, flags,
					    &(struct wire_method_load){
						    .time_ns = 500,
						    .addr = addr,
						    .size = SIZE,
						    .level = 4,
						    .class_sig = wire_str_from(class_sig),
						    .method = wire_str_from(method),
						    .sections = section.data,
						    .sections_len = section.len,
					    }));
	own_jvm_hear(process, &record, NOW);
}

static int set_up(void **state)
{
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

static const struct code_range *range_at(uint64_t addr)
{
	const struct code_range *range = code_map_find(process->code, addr, NOW);

	assert_non_null(range);
	return range;
}

/* "inner:line < outer:line" at an offset of the code at ADDR. */
static void check_stack(uint32_t offset, const char *expected)
{
	struct inline_frame frames[8];
	const size_t n = inline_table_find(range_at(ADDR)->inlines, offset, frames, 8);
	char text[256] = "";
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s:%u", i ? " < " : "",
					frames[i].method->name,
					code_method_line(frames[i].method, frames[i].bci));
	assert_string_equal(text, expected);
}

/* outer alone in [0, 16), inner within it in [16, 24), deepest within that in [24, 32). */
static void send_nested(void)
{
	const struct wire_line lines[] = {{0, 7}, {5, 8}};

	begin_table(3);
	self(1, lines, 2);
	named(2, "inner");
	named(3, "deepest");
	wire_encode_inline_count(&table, 3);
	region(16, 1, 0);
	frame(0, 4);
	region(8, 2, 0);
	frame(0, 5);
	frame(1, 12);
	region(8, 3, 1);
	frame(1, 25);
	frame(2, WIRE_BCI_UNKNOWN);
	send_load(ADDR, "Lcom/acme/Main;", "outer", 0);
	assert_int_equal(process->jvm->lost_inlines, 0);
}

/* ---- claims ---- */

static void a_region_holds_up_to_its_end_and_not_beyond(void **state)
{
	send_nested();
	check_stack(0, "outer:7");
	check_stack(15, "outer:7");
	check_stack(16, "inner:110 < outer:8");
	check_stack(23, "inner:110 < outer:8");
	check_stack(24, "deepest:0 < inner:120 < outer:8");
	check_stack(31, "deepest:0 < inner:120 < outer:8");
}

static void behind_the_last_region_is_the_compiled_method(void **state)
{
	send_nested();
	check_stack(32, "outer:0");
	check_stack(SIZE - 1, "outer:0");
}

static void frames_that_have_no_room_are_the_outermost(void **state)
{
	struct inline_frame frames[2];

	send_nested();
	assert_int_equal(inline_table_find(range_at(ADDR)->inlines, 30, frames, 2), 2);
	assert_string_equal(frames[0].method->name, "deepest");
	assert_string_equal(frames[1].method->name, "inner");
}

static void an_id_is_known_to_later_records(void **state)
{
	send_nested();
	begin_table(2);
	known(2);
	known(3);
	wire_encode_inline_count(&table, 1);
	region(8, 2, 0);
	frame(0, 0);
	frame(1, 0);
	send_load(ADDR, "", "", 0);
	check_stack(4, "deepest:100 < inner:100");
	assert_string_equal(range_at(ADDR)->class_name, "com/acme/In");
	assert_string_equal(range_at(ADDR)->name, "inner");
	assert_string_equal(range_at(ADDR)->signature, "(I)V");
	assert_string_equal(range_at(ADDR)->source_file, "In.java");
}

static void an_id_that_is_named_again_leaves_older_tables_alone(void **state)
{
	send_nested();
	begin_table(1);
	named(2, "other");
	wire_encode_inline_count(&table, 0);
	send_load(ADDR + 0x1000, "", "", 0);
	assert_string_equal(range_at(ADDR + 0x1000)->name, "other");
	check_stack(16, "inner:110 < outer:8");
}

static void ids_are_those_of_one_connection(void **state)
{
	send_nested();
	process_open_session(process, 2, NOW);
	own_jvm_hear_hello(process, NOW);
	begin_table(1);
	known(2);
	wire_encode_inline_count(&table, 0);
	send_load(ADDR + 0x1000, "", "", 0);
	assert_int_equal(process->jvm->lost_inlines, 1);
	assert_string_equal(range_at(ADDR + 0x1000)->name, "[unnamed method]");
	check_stack(16, "inner:110 < outer:8");
}

static void a_broken_table_is_counted_and_the_method_kept(void **state)
{
	begin_table(1);
	self(1, NULL, 0);
	wire_encode_inline_count(&table, 1);
	region(SIZE + 1, 1, 0);
	frame(0, 0);
	send_load(ADDR, "Lcom/acme/Main;", "outer", 0);
	assert_int_equal(process->jvm->lost_inlines, 1);
	assert_null(range_at(ADDR)->inlines);
	assert_string_equal(range_at(ADDR)->name, "outer");
	assert_int_equal(range_at(ADDR)->level, 4);
}

static void a_method_that_is_not_known_does_not_lend_another_ones_name(void **state)
{
	begin_table(2);
	known(77);
	named(2, "inner");
	wire_encode_inline_count(&table, 0);
	send_load(ADDR, "", "", 0);
	assert_int_equal(process->jvm->lost_inlines, 1);
	assert_string_equal(range_at(ADDR)->name, "[unnamed method]");
}

static void a_repeat_keeps_the_first_table_or_brings_one(void **state)
{
	const struct inline_table *first;

	send_nested();
	first = range_at(ADDR)->inlines;
	send_nested();
	assert_ptr_equal(range_at(ADDR)->inlines, first);
}

static void a_table_goes_with_its_range(void **state)
{
	size_t bytes;

	send_nested();
	bytes = process->methods.bytes;
	assert_int_equal(process->methods.count, 3);
	for (unsigned int i = 0; i < 100; i++) {
		send_nested();
		code_map_remove(process->code, ADDR, NOW + i);
		begin_table(1);
		self(9, NULL, 0);
		wire_encode_inline_count(&table, 0);
		send_load(ADDR, "Lcom/acme/Main;", "next", 0);
		code_map_remove(process->code, ADDR, NOW + i);
		code_map_expire(process->code, 2 * NOW, 0);
	}
	/* What is left is what the IDs name: four methods and no table. */
	assert_int_equal(process->methods.count, 4);
	assert_true(process->methods.bytes < bytes + 200);
	code_methods_forget_ids(&process->methods);
	assert_int_equal(process->methods.count, 0);
	assert_int_equal(process->methods.bytes, 0);
}

static void memory_for_tables_has_an_end(void **state)
{
	const size_t others = CODE_METHODS_MAX_BYTES - (1u << 20); /* as if so much were in use */
	static struct wire_line lines[65535];
	uint64_t addr = ADDR;

	process->methods.bytes += others;
	for (uint32_t i = 0; i < 65535; i++)
		lines[i] = (struct wire_line){i, i & 1};
	for (unsigned int i = 0; i < 6; i++, addr += 0x1000) {
		begin_table(1);
		self(0, lines, 65535);
		wire_encode_inline_count(&table, 0);
		send_load(addr, "Lcom/acme/Main;", "large", 0);
		assert_true(process->methods.bytes <= CODE_METHODS_MAX_BYTES);
	}
	assert_true(process->jvm->lost_inlines > 0);
	assert_string_equal(range_at(addr - 0x1000)->name, "large");
	process->methods.bytes -= others;
}

static void an_id_whose_new_name_finds_no_room_means_nothing(void **state)
{
	const size_t others = CODE_METHODS_MAX_BYTES;

	send_nested(); /* names the IDs 1 to 3 */
	process->methods.bytes += others;
	begin_table(1);
	named(3, "newcomer");
	wire_encode_inline_count(&table, 0);
	send_load(ADDR + 0x1000, "", "", 0);
	process->methods.bytes -= others;
	begin_table(1);
	known(3);
	wire_encode_inline_count(&table, 0);
	send_load(ADDR + 0x2000, "", "", 0);
	assert_string_equal(range_at(ADDR + 0x2000)->name, "[unnamed method]");
}

/* Depth and frames of region i, each sharing what it can with the one before. */
static uint32_t depth_of(uint32_t i)
{
	return 1 + i * 7 % 5;
}

static void say_region(uint32_t i, int32_t *stack)
{
	const uint32_t depth = depth_of(i), before = i ? depth_of(i - 1) : 0;
	const uint32_t shared = depth - 1 < before ? depth - 1 : before;

	region(1, depth, shared);
	for (uint32_t j = shared; j < depth; j++) {
		stack[j] = (int32_t)(100 * i + j);
		frame(j % 2, stack[j]);
	}
}

static void every_region_of_a_long_table_is_found(void **state)
{
	int32_t stack[8], expected[SIZE][8];
	struct inline_frame frames[8];

	begin_table(2);
	self(1, NULL, 0);
	named(2, "inner");
	wire_encode_inline_count(&table, SIZE);
	for (uint32_t i = 0; i < SIZE; i++) {
		say_region(i, stack);
		memcpy(expected[i], stack, sizeof(stack));
	}
	send_load(ADDR, "Lcom/acme/Main;", "outer", 0);
	for (uint32_t i = 0; i < SIZE; i++) {
		const uint32_t depth = depth_of(i);

		assert_int_equal(inline_table_find(range_at(ADDR)->inlines, i, frames, 8), depth);
		for (uint32_t j = 0; j < depth; j++)
			assert_int_equal(frames[depth - 1 - j].bci, expected[i][j]);
	}
}

static size_t n_visits;

static void visit(void *arg, uint32_t start, uint32_t end, const struct inline_frame *frames,
		  size_t n)
{
	const uint32_t starts[] = {0, 16, 24}, ends[] = {16, 24, 32};

	(void)arg;
	assert_int_equal(start, starts[n_visits]);
	assert_int_equal(end, ends[n_visits]);
	assert_int_equal(n, n_visits + 1);
	assert_string_equal(frames[n - 1].method->name, "outer");
	n_visits++;
}

static void regions_are_walked_in_order(void **state)
{
	send_nested();
	n_visits = 0;
	inline_table_walk(range_at(ADDR)->inlines, visit, NULL);
	assert_int_equal(n_visits, 3);
}

static void lines_of_code_are_those_of_the_innermost(void **state)
{
	struct code_lines lines = {0};

	send_nested();
	code_lines_collect(&lines, range_at(ADDR));
	/*
	 * outer has lines, but no file; deepest's place is not known, so that inner's line goes on
	 */
	assert_int_equal(lines.count, 1);
	assert_int_equal(lines.lines[0].addr, ADDR + 16);
	assert_int_equal(lines.lines[0].line, 110);
	assert_string_equal(lines.lines[0].file, "com/acme/In.java");
	code_lines_fini(&lines);
}

static const char *rename_to_itself(void *arg, const char *name)
{
	(*(size_t *)arg)++;
	return name;
}

static void every_method_is_renamed_once(void **state)
{
	size_t n = 0;

	send_nested();
	send_nested();
	code_methods_begin_rename(&process->methods, rename_to_itself, &n);
	assert_int_equal(code_methods_rename_some(&process->methods, 3), 3);
	assert_int_equal(code_methods_rename_some(&process->methods, 100), 3);
	/* Both records' methods live: outer with two names, the others with four each. */
	assert_int_equal(n, 2 * (2 + 4 + 4));
}

#define INLINES_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		INLINES_TEST(a_region_holds_up_to_its_end_and_not_beyond),
		INLINES_TEST(behind_the_last_region_is_the_compiled_method),
		INLINES_TEST(frames_that_have_no_room_are_the_outermost),
		INLINES_TEST(an_id_is_known_to_later_records),
		INLINES_TEST(an_id_that_is_named_again_leaves_older_tables_alone),
		INLINES_TEST(ids_are_those_of_one_connection),
		INLINES_TEST(a_broken_table_is_counted_and_the_method_kept),
		INLINES_TEST(a_method_that_is_not_known_does_not_lend_another_ones_name),
		INLINES_TEST(a_repeat_keeps_the_first_table_or_brings_one),
		INLINES_TEST(a_table_goes_with_its_range),
		INLINES_TEST(memory_for_tables_has_an_end),
		INLINES_TEST(an_id_whose_new_name_finds_no_room_means_nothing),
		INLINES_TEST(every_region_of_a_long_table_is_found),
		INLINES_TEST(regions_are_walked_in_order),
		INLINES_TEST(lines_of_code_are_those_of_the_innermost),
		INLINES_TEST(every_method_is_renamed_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
