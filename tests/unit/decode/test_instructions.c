// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about decode/instructions.h. Code is written as bytes with its assembly beside the bytes.
 * This process is the process whose code is read.
 */
#include "decode/instructions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "base/clock.h"
#include "code/inline_table.h"
#include "shared/wire.h"

#define ADD  0x48, 0x83, 0xc0, 0x01	  /* add rax, 1 */
#define LOAD 0x48, 0x8b, 0x07		  /* mov rax, [rdi] */
#define XADD 0xf0, 0x48, 0x0f, 0xc1, 0x07 /* lock xadd [rdi], rax */
#define XCHG 0x48, 0x87, 0x07		  /* xchg [rdi], rax */
#define IDIV 0x48, 0xf7, 0xf9		  /* idiv rcx */
#define CALL 0xe8, 0x00, 0x10, 0x00, 0x00 /* call somewhere else */
#define RET  0xc3			  /* ret */
#define LEA  0x48, 0x8d, 0x47, 0x08	  /* lea rax, [rdi + 8] */
#define NOPS 0x0f, 0x1f, 0x44, 0x00, 0x00 /* nop [rax + rax] */

#define LEN(code) sizeof(code)

/* Checks for C2's code how far back the instruction lies. */
#define check(code, offset, back)                                                                  \
	assert_int_equal(instructions_back_in(code, LEN(code), false, offset, ends_at, NULL), back)

/* Checks for C1's code, with a region that ends at an offset. */
#define check_c1(code, offset, end, back)                                                          \
	do {                                                                                       \
		uint32_t at = (end);                                                               \
		assert_int_equal(                                                                  \
			instructions_back_in(code, LEN(code), true, offset, ends_at, &at), back);  \
	} while (0)

static bool ends_at(void *arg, uint32_t offset)
{
	return arg && *(uint32_t *)arg == offset;
}

/* ---- of the code alone ---- */

static void what_is_gone_on_to_comes_from_the_instruction_before(void **state)
{
	static const uint8_t code[] = {ADD, LOAD, CALL, ADD, RET};

	check(code, 0, 0); /* nothing is before it */
	check(code, 4, 4);
	check(code, 7, 3);
	check(code, 12, 5); /* the call has returned */
	check(code, 16, 4);
}

static void what_is_no_instruction_says_nothing(void **state)
{
	static const uint8_t code[] = {ADD, ADD, RET};

	check(code, 1, 0);
	check(code, 9, 0);
	check(code, 99, 0);
}

/* The number is the largest, so that a sanitizer sees it taken for a distance. */
static void a_number_in_the_code_is_no_distance_of_a_jump(void **state)
{
	static const uint8_t code[] = {ADD,  0x48, 0xb8, 0xff, 0xff, 0xff,
				       0xff, 0xff, 0xff, 0xff, 0x7f, /* mov rax, its value */
				       ADD,  RET};

	check(code, 14, 10);
	check(code, 18, 4);
}

static void nothing_goes_on_behind_a_jump_or_a_return(void **state)
{
	static const uint8_t code[] = {0xeb, 0x04 /* jmp +4 */, ADD, RET, ADD, 0x0f, 0x0b, ADD};

	check(code, 2, 0);
	check(code, 7, 0);  /* behind the return */
	check(code, 13, 0); /* behind ud2 */
}

/* head: ..., jne head */
static void the_head_of_a_loop_takes_the_time_but_of_what_is_slow(void **state)
{
	static const uint8_t after_add[] = {ADD, ADD, 0x75, 0xfa, RET};
	static const uint8_t after_load[] = {LOAD, ADD, 0x75, 0xfa, RET};
	static const uint8_t after_xadd[] = {XADD, ADD, 0x75, 0xfa, RET};
	static const uint8_t after_xchg[] = {XCHG, ADD, 0x75, 0xfa, RET};
	static const uint8_t after_idiv[] = {IDIV, ADD, 0x75, 0xfa, RET};

	check(after_add, 4, 0);
	check(after_load, 3, 0);
	check(after_xadd, 5, 5);
	check(after_xchg, 3, 3);
	check(after_idiv, 3, 3);
	check(after_add, 8, 4); /* the jump back itself follows its body */
}

/* je there; ...; there: */
static void where_branches_meet_a_load_takes_the_time_too(void **state)
{
	static const uint8_t after_add[] = {0x74, 0x04, ADD, ADD, RET};
	static const uint8_t after_load[] = {0x74, 0x03, LOAD, ADD, RET};
	static const uint8_t after_lea[] = {0x74, 0x04, LEA, ADD, RET};
	static const uint8_t after_nop[] = {0x74, 0x05, NOPS, ADD, RET};

	check(after_add, 6, 0);
	check(after_load, 5, 3);
	check(after_lea, 6, 0); /* it loads nothing */
	check(after_nop, 7, 0);
}

static void behind_what_does_not_decode_nothing_is_known(void **state)
{
	static const uint8_t code[] = {ADD, 0x06 /* none in 64 bits */, ADD, ADD, RET};
	static const uint8_t cut[] = {ADD, 0x48, 0x83};

	check(code, 4, 0); /* it does not begin an instruction */
	check(code, 9, 0);
	check(cut, 4, 0);
}

/* The jumps lead in front of the code, behind the code, and into the middle of an instruction. */
static void jumps_to_anywhere_do_no_harm(void **state)
{
	static const uint8_t code[] = {ADD,  0x75, 0x80, 0x75, 0x7f, 0x75, 0xf9,
				       0xe9, 0xff, 0xff, 0xff, 0x7f, RET};

	for (size_t i = 0; i < LEN(code) + 2; i++)
		instructions_back_in(code, LEN(code), true, i, ends_at, NULL);
}

/* What C1 calls the end of a region is where its last instruction begins. */
static void c1_means_the_instruction_at_which_a_region_ends(void **state)
{
	static const uint8_t code[] = {ADD, LOAD, ADD, 0xeb, 0x00, ADD, RET};

	check_c1(code, 7, 4,
		 4); /* behind the load: its begin, and into the region that ends there */
	check_c1(code, 7, 7, 3);   /* the load, but of the next region */
	check_c1(code, 13, 13, 1); /* no instruction goes on to it: it is meant itself */
	check_c1(code, 13, 0, 0);
	check_c1(code, 4, 0, 4); /* nothing lies before the first one */
}

static void c1_says_of_a_call_where_it_returns_to(void **state)
{
	static const uint8_t code[] = {CALL, ADD, ADD, RET};

	check_c1(code, 5, 5, 5); /* the call, which is of the region that ends there */
	check_c1(code, 9, 5, 4); /* not of it: what follows the call */
}

/* ---- of a process ---- */

static struct code_methods store;
static struct instructions instructions;
static struct code_method *method;

static int set_up(void **state)
{
	const struct code_method said = {.class_name = "C", .name = "m", .signature = "()V"};
	const struct wire_method wire = {0};

	store = (struct code_methods){0};
	instructions = (struct instructions){0};
	return code_methods_add(&store, &said, &wire, &method);
}

static int tear_down(void **state)
{
	instructions_fini(&instructions);
	code_methods_unref(&store, method);
	code_methods_fini(&store);
	return 0;
}

/* Makes a table of two regions. The first region has that many bytes. */
static struct inline_table *table_of(uint32_t first, uint32_t size)
{
	uint8_t bytes[256];
	struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};
	struct wire_inline rest;
	struct wire_method none;
	struct inline_table *table;

	wire_encode_inline_count(&buf, 1);
	wire_encode_inline_method(&buf, &(struct wire_method){.how = WIRE_METHOD_SELF}, NULL);
	wire_encode_inline_count(&buf, 2);
	for (uint32_t i = 0; i < 2; i++) {
		wire_encode_inline_region(
			&buf, &(struct wire_region){.size = i ? size - first : first, .depth = 1});
		wire_encode_inline_frame(
			&buf, &(struct wire_inline_frame){.method = 0, .bci = (int32_t)i});
	}
	assert_int_equal(wire_inline_init(&rest, buf.data, buf.len), 0);
	while (wire_inline_next_method(&rest, &none) > 0)
		;
	assert_int_equal(inline_table_new(&store, &method, &rest, size, &table), 0);
	return table;
}

static struct code_range range_of(const uint8_t *code, uint32_t size, struct inline_table *table)
{
	return (struct code_range){.addr = (uintptr_t)code,
				   .size = size,
				   .death_ns = CODE_TIME_FOREVER,
				   .inlines = table};
}

static uint8_t back(const struct code_range *range, uint32_t offset)
{
	return instructions_back(&instructions, getpid(), range, range->addr + offset);
}

static void only_near_the_end_of_a_region_is_code_read(void **state)
{
	static const uint8_t code[] = {ADD, ADD, ADD, ADD, ADD, ADD, ADD, RET};
	struct inline_table *table = table_of(8, LEN(code));
	const struct code_range range = range_of(code, LEN(code), table);
	const struct code_range without = range_of(code, LEN(code), NULL);

	assert_int_equal(back(&range, 24), 0);
	assert_int_equal(back(&without, 8), 0);
	assert_int_equal(instructions.bytes, 0);
	assert_true(back(&range, 8) > 0);
	assert_true(instructions.bytes > 0);
	assert_int_equal(instructions.unread, 0);
	inline_table_free(table);
}

/* Code that was read while it lived is remembered. Later other code may lie at its addresses. */
static void code_that_is_gone_is_not_read(void **state)
{
	uint8_t code[] = {ADD, ADD, RET};
	struct inline_table *table = table_of(4, LEN(code));
	struct code_range range = range_of(code, LEN(code), table);

	range.death_ns = 7;
	assert_int_equal(back(&range, 4), 0);
	assert_int_equal(instructions.unread, 1);
	range.death_ns = CODE_TIME_FOREVER;
	assert_true(back(&range, 4) > 0);
	range.death_ns = 7;
	memset(code, RET, sizeof(code));
	assert_true(back(&range, 4) > 0);
	assert_int_equal(instructions.unread, 1);
	inline_table_free(table);
}

static void code_that_cannot_be_read_is_counted(void **state)
{
	struct inline_table *table = table_of(4, 9);
	const struct code_range range = range_of((const uint8_t *)16, 9, table);

	assert_int_equal(back(&range, 4), 0);
	assert_int_equal(instructions.unread, 1);
	inline_table_free(table);
}

static void a_turn_reads_no_more_than_its_share(void **state)
{
	const uint32_t size = INSTRUCTIONS_TURN_BYTES / 2 + 1;
	uint8_t *code = calloc(size, 1);
	struct inline_table *first = table_of(2, size), *second = table_of(2, size);
	const struct code_range ranges[] = {range_of(code, size, first),
					    range_of(code, size, second)};

	assert_non_null(code); /* add [rax], al, again and again */
	assert_true(back(&ranges[0], 2) > 0);
	instructions.turn_ns = clock_now_ns() + CLOCK_NS_PER_SEC;
	assert_int_equal(back(&ranges[1], 2), 0);
	assert_int_equal(instructions.unread, 1);
	instructions.turn_ns = 0; /* the next turn */
	assert_true(back(&ranges[1], 2) > 0);
	inline_table_free(first);
	inline_table_free(second);
	free(code);
}

static void what_is_kept_has_a_limit(void **state)
{
	const uint32_t size = INSTRUCTIONS_METHOD_BYTES;
	uint8_t *code = calloc(size + 1, 1);
	struct inline_table *table;
	struct code_range range;

	assert_non_null(code);
	for (int i = 0; i < 40; i++) {
		table = table_of(2, size);
		range = range_of(code, size, table);
		instructions.turn_ns = 0;
		assert_true(back(&range, 2) > 0);
		assert_true(instructions.bytes <= INSTRUCTIONS_MAX_BYTES);
		inline_table_free(table);
	}
	table = table_of(2, size + 1);
	range = range_of(code, size + 1, table);
	instructions.turn_ns = 0;
	assert_int_equal(back(&range, 2), 0);
	inline_table_free(table);
	free(code);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_gone_on_to_comes_from_the_instruction_before),
		cmocka_unit_test(what_is_no_instruction_says_nothing),
		cmocka_unit_test(a_number_in_the_code_is_no_distance_of_a_jump),
		cmocka_unit_test(nothing_goes_on_behind_a_jump_or_a_return),
		cmocka_unit_test(the_head_of_a_loop_takes_the_time_but_of_what_is_slow),
		cmocka_unit_test(where_branches_meet_a_load_takes_the_time_too),
		cmocka_unit_test(behind_what_does_not_decode_nothing_is_known),
		cmocka_unit_test(jumps_to_anywhere_do_no_harm),
		cmocka_unit_test(c1_means_the_instruction_at_which_a_region_ends),
		cmocka_unit_test(c1_says_of_a_call_where_it_returns_to),
		TEST(only_near_the_end_of_a_region_is_code_read),
		TEST(code_that_is_gone_is_not_read),
		TEST(code_that_cannot_be_read_is_counted),
		TEST(a_turn_reads_no_more_than_its_share),
		TEST(what_is_kept_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
