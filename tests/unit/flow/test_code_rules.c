// SPDX-License-Identifier: Apache-2.0
/* Rules for code without rules: of single functions made here, and of a library with rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "elf/cfi_compile.h"
#include "elf/cfi_gaps.h"
#include "elf/cfi_table.h"
#include "flow/code_rules.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define RET	    0xc3
#define NOP	    0x90
#define HLT	    0xf4
#define PUSH_RBX    0x53
#define POP_RBX	    0x5b
#define PUSH_RBP    0x55
#define POP_RBP	    0x5d
#define LEAVE	    0xc9
#define SYSCALL	    0x0f, 0x05
#define MOV_RBP_RSP 0x48, 0x89, 0xe5
#define SUB_RSP(n)  0x48, 0x83, 0xec, n
#define ADD_RSP(n)  0x48, 0x83, 0xc4, n
#define XOR_EBP	    0x31, 0xed
#define XOR_EAX	    0x31, 0xc0
#define TEST_EAX    0x85, 0xc0
#define JNZ(n)	    0x75, n
#define JMP(n)	    0xeb, n
#define CALL(n)	    0xe8, n, 0, 0, 0
#define CALL_RAX    0xff, 0xd0
#define MOV_EAX(n)  0xb8, n, 0, 0, 0
#define UNKNOWN	    CODE_NO_TARGET
#define MAX_ADDR    0x10000 /* of the library */

static struct code_rules rules;

static int free_rules(void **state)
{
	code_rules_fini(&rules);
	return 0;
}

/* entry: as code_rules_make. called: the offset of a function that is called, or UNKNOWN. */
static void find_rules(const uint8_t *code, size_t len, uint32_t entry, uint32_t called)
{
	struct code_steps steps = {0};

	assert_int_equal(code_steps_add(&steps, code, len, 0), 0);
	code_steps_link(&steps);
	if (called != UNKNOWN)
		steps.items[code_steps_find(&steps, called)].is_entry = true;
	assert_int_equal(code_rules_make(&steps, entry, &rules), 0);
	code_steps_fini(&steps);
}

#define FIND_RULES(entry, called, ...)                                                             \
	find_rules((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), entry,  \
		   called)

static const struct cfi_row *row_at(uint32_t offset)
{
	const struct cfi_row *row = NULL;

	for (size_t i = 0; i < rules.row_count && rules.rows[i].start <= offset; i++)
		row = &rules.rows[i];
	assert_non_null(row);
	return row;
}

static void check_sp(uint32_t offset, int32_t cfa_off, int32_t fp_off)
{
	const struct cfi_row *row = row_at(offset);

	assert_int_equal(row->kind, CFI_REG);
	assert_true(row->is_decoded);
	assert_int_equal(row->cfa_reg, CFI_REG_RSP);
	assert_int_equal(row->cfa_off, cfa_off);
	assert_int_equal(row->fp_off, fp_off);
	assert_int_equal(row->ra_off, -8);
}

static void check_none(uint32_t offset)
{
	assert_int_equal(row_at(offset)->kind, CFI_NONE);
	assert_false(row_at(offset)->is_root);
}

static void what_pops_say_holds_back_to_the_functions_begin(void **state)
{
	FIND_RULES(UNKNOWN, UNKNOWN, PUSH_RBX, PUSH_RBP, SUB_RSP(24), CALL_RAX, ADD_RSP(24),
		   POP_RBP, POP_RBX, RET);
	check_sp(0, 8, CFI_SAME);
	check_sp(1, 16, CFI_SAME);
	check_sp(2, 24, -24);
	check_sp(6, 48, -24);
	check_sp(8, 48, -24);
	check_sp(12, 24, -24);
	check_sp(13, 16, CFI_SAME);
	check_sp(14, 8, CFI_SAME);
}

static void a_system_calls_stub_has_no_frame(void **state)
{
	FIND_RULES(UNKNOWN, UNKNOWN, MOV_EAX(11), SYSCALL, RET);
	check_sp(0, 8, CFI_SAME);
	check_sp(7, 8, CFI_SAME);
}

/* add rax to rsp: only the frame pointer knows where the frame is. */
static void a_frame_of_unknown_size_is_left_by_its_frame_pointer(void **state)
{
	FIND_RULES(UNKNOWN, UNKNOWN, PUSH_RBP, MOV_RBP_RSP, 0x48, 0x29, 0xc4, CALL_RAX, LEAVE, RET);
	check_sp(0, 8, CFI_SAME);
	check_sp(1, 16, -16);
	assert_int_equal(row_at(7)->cfa_reg, CFI_REG_RBP);
	assert_int_equal(row_at(7)->cfa_off, 16);
	assert_int_equal(row_at(7)->fp_off, -16);
	check_sp(10, 8, CFI_SAME);
}

/* The call in the branch never returns. What follows is another function, and says nothing. */
static void code_behind_a_call_that_never_returns_says_nothing_of_it(void **state)
{
	FIND_RULES(UNKNOWN, 0, PUSH_RBX, TEST_EAX, JNZ(2), POP_RBX, RET, SUB_RSP(32), CALL_RAX, NOP,
		   SUB_RSP(8), ADD_RSP(8), RET);
	check_sp(7, 16, CFI_SAME);
	check_sp(11, 48, CFI_SAME);
	check_sp(14, 8, CFI_SAME);
}

static void a_jump_to_another_function_is_a_return(void **state)
{
	FIND_RULES(UNKNOWN, UNKNOWN, PUSH_RBX, CALL_RAX, POP_RBX, JMP(1), HLT, XOR_EAX, RET);
	check_sp(0, 8, CFI_SAME);
	check_sp(1, 16, CFI_SAME);
	check_sp(4, 8, CFI_SAME);
}

static void code_that_nothing_is_known_of_has_no_rule(void **state)
{
	FIND_RULES(UNKNOWN, UNKNOWN, SUB_RSP(8), CALL_RAX, HLT, RET);
	check_none(0);
	check_none(4);
	check_sp(7, 8, CFI_SAME);
}

/* What is behind comes back to a caller. */
static void code_that_gives_up_no_caller_is_no_root(void **state)
{
	FIND_RULES(UNKNOWN, 0, XOR_EBP, CALL_RAX, XOR_EAX, SYSCALL, RET);
	for (uint32_t i = 0; i < 9; i++)
		assert_false(row_at(i)->is_root);
	check_sp(2, 8, CFI_SAME);
}

/* As musl's clone: both threads come to the test, and only one of them has a caller. */
static void a_thread_has_nothing_to_return_to(void **state)
{
	FIND_RULES(UNKNOWN, 0, XOR_EAX, SYSCALL, TEST_EAX, JNZ(10), XOR_EBP, 0x5f, CALL_RAX,
		   XOR_EAX, SYSCALL, HLT, RET);
	check_sp(6, 8, CFI_SAME);
	check_sp(8, 8, CFI_SAME);
	assert_false(row_at(2)->is_newborn);
	assert_true(row_at(4)->is_newborn);
	assert_true(row_at(8)->is_newborn);
	assert_true(row_at(10)->is_root);
	assert_true(row_at(12)->is_root);
	assert_true(row_at(15)->is_root);
	check_sp(18, 8, CFI_SAME);
}

/* A compiler zeroes rbp as any other register, once it has saved it. */
static void a_function_that_uses_the_frame_pointer_is_no_root(void **state)
{
	FIND_RULES(UNKNOWN, 0, PUSH_RBP, XOR_EBP, CALL_RAX, HLT, PUSH_RBP, XOR_EBP, CALL_RAX,
		   POP_RBP, RET);
	for (uint32_t i = 0; i < 13; i++)
		assert_false(row_at(i)->is_root);
	check_sp(3, 16, -16);
	check_sp(9, 16, -16);
}

static void the_files_entry_point_is_a_root_up_to_its_end(void **state)
{
	FIND_RULES(1, UNKNOWN, RET, XOR_EBP, CALL(1), HLT, PUSH_RBX, CALL_RAX, POP_RBX, RET);
	assert_true(row_at(1)->is_root);
	assert_true(row_at(3)->is_root);
	assert_false(row_at(9)->is_root);
	check_sp(10, 16, CFI_SAME);
}

static void a_signals_frame_is_left_by_what_the_kernel_saved(void **state)
{
	FIND_RULES(UNKNOWN, UNKNOWN, RET, 0x48, 0xc7, 0xc0, 15, 0, 0, 0, SYSCALL, NOP, RET);
	assert_true(row_at(1)->is_signal);
	assert_int_equal(row_at(1)->start, 1);
	assert_true(row_at(8)->is_signal);
	assert_false(row_at(10)->is_signal);
}

static void functions_begin_where_they_are_called_or_behind_an_end(void **state)
{
	FIND_RULES(UNKNOWN, UNKNOWN, CALL(3), RET, NOP, NOP, XOR_EAX, RET, PUSH_RBX, TEST_EAX,
		   JNZ(0), POP_RBX, RET);
	assert_int_equal(rules.start_count, 3);
	assert_int_equal(rules.starts[0], 0);
	assert_int_equal(rules.starts[1], 8);
	assert_int_equal(rules.starts[2], 11);
}

static void garbage_harms_nobody(void **state)
{
	uint8_t code[4096];
	uint32_t seed = 4711;

	for (int round = 0; round < 64; round++) {
		for (size_t i = 0; i < sizeof(code); i++) {
			seed = seed * 1664525u + 1013904223u;
			code[i] = (uint8_t)(seed >> 24);
		}
		find_rules(code, sizeof(code), 0, UNKNOWN);
		for (size_t i = 1; i < rules.row_count; i++)
			assert_true(rules.rows[i - 1].start < rules.rows[i].start);
		code_rules_fini(&rules);
	}
}

/* The rules that the code itself gives, without those of the file. */
static struct cfi_table *decode_file(int fd)
{
	struct cfi_rows rows = {0};
	struct cfi_table *table;
	struct elf_file file;

	assert_int_equal(elf_file_open(fd, &file), 0);
	rows.base = cfi_compile_base(&file.layout);
	assert_int_equal(cfi_gaps_fill(fd, &file, &rows), 0);
	assert_int_equal(cfi_table_make(&rows, &file.layout, &table), 0);
	elf_file_close(&file);
	return table;
}

/* The first address behind the PLT, whose code does not say what its rules say. */
static uint64_t end_of_plt(const struct cfi_table *table)
{
	uint64_t end = 0;

	for (uint64_t pc = 0; pc < MAX_ADDR; pc++) {
		const struct cfi_row *row = cfi_table_find(table, pc);

		if (row && row->kind == CFI_PLT)
			end = pc + 1;
	}
	return end;
}

/* Where both say how far the frame is from one register, they say the same. */
static void the_rules_of_code_are_those_of_the_file(void **state)
{
	const int fd = open(FG_UNWIND_FIXTURE, O_RDONLY | O_CLOEXEC);
	struct cfi_table *decoded = decode_file(fd), *told;
	size_t same = 0;

	assert_int_equal(cfi_table_load(fd, &told), 0);
	for (uint64_t pc = end_of_plt(told); pc < MAX_ADDR; pc++) {
		const struct cfi_row *row = cfi_table_find(told, pc);
		const struct cfi_row *found = cfi_table_find(decoded, pc);

		if (!row || !found || row->is_decoded || row->is_root || row->is_signal ||
		    row->kind != CFI_REG || found->kind != CFI_REG ||
		    row->cfa_reg != found->cfa_reg)
			continue;
		if (row->cfa_off != found->cfa_off)
			print_message("%#jx: %d, not %d\n", (uintmax_t)pc, found->cfa_off,
				      row->cfa_off);
		assert_int_equal(row->cfa_off, found->cfa_off);
		same++;
	}
	assert_true(same > 0);
	cfi_table_free(told);
	cfi_table_free(decoded);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(what_pops_say_holds_back_to_the_functions_begin,
					  free_rules),
		cmocka_unit_test_teardown(a_system_calls_stub_has_no_frame, free_rules),
		cmocka_unit_test_teardown(a_frame_of_unknown_size_is_left_by_its_frame_pointer,
					  free_rules),
		cmocka_unit_test_teardown(code_behind_a_call_that_never_returns_says_nothing_of_it,
					  free_rules),
		cmocka_unit_test_teardown(a_jump_to_another_function_is_a_return, free_rules),
		cmocka_unit_test_teardown(code_that_nothing_is_known_of_has_no_rule, free_rules),
		cmocka_unit_test_teardown(code_that_gives_up_no_caller_is_no_root, free_rules),
		cmocka_unit_test_teardown(a_thread_has_nothing_to_return_to, free_rules),
		cmocka_unit_test_teardown(a_function_that_uses_the_frame_pointer_is_no_root,
					  free_rules),
		cmocka_unit_test_teardown(the_files_entry_point_is_a_root_up_to_its_end,
					  free_rules),
		cmocka_unit_test_teardown(a_signals_frame_is_left_by_what_the_kernel_saved,
					  free_rules),
		cmocka_unit_test_teardown(functions_begin_where_they_are_called_or_behind_an_end,
					  free_rules),
		cmocka_unit_test(garbage_harms_nobody),
		cmocka_unit_test(the_rules_of_code_are_those_of_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
