// SPDX-License-Identifier: Apache-2.0
/* Claims about decode/spill.h, on instructions as C2 emits them. */
#include "decode/spill.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define JUMP_BACK 0xe9, 0x00, 0xff, 0xff, 0xff

#define CHECK(expected, ...)                                                                       \
	do {                                                                                       \
		static const uint8_t code[] = {__VA_ARGS__};                                       \
		uint32_t bytes = 0;                                                                \
                                                                                                   \
		assert_int_equal(spill_bytes(code, sizeof(code), &bytes), (expected) != 0);        \
		if ((expected) != 0)                                                               \
			assert_int_equal(bytes, (expected));                                       \
	} while (0)

static void what_is_taken_back_had_been_saved(void **state)
{
	/* mov rax, [rsp]; add rsp, 0x40 */
	CHECK(0x40, 0x48, 0x8b, 0x04, 0x24, 0x48, 0x83, 0xc4, 0x40, JUMP_BACK);
	CHECK(0x140, 0x48, 0x81, 0xc4, 0x40, 0x01, 0x00, 0x00, JUMP_BACK);
	/* lea rsp, [rsp + 0x80]; pop rbx; pop r12; popfq */
	CHECK(0x98, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00, 0x5b, 0x41, 0x5c, 0x9d,
	      JUMP_BACK);
	/* sub rsp, 0x10; push rbp; call; pop rbp; add rsp, 0x30 */
	CHECK(0x20, 0x48, 0x83, 0xec, 0x10, 0x55, 0xe8, 0x00, 0x10, 0x00, 0x00, 0x5d, 0x48, 0x83,
	      0xc4, 0x30, JUMP_BACK);
	/* add rax, 8; sub rcx, rdx; lea rdi, [rsp + rax + 16]; pop rbx */
	CHECK(0x08, 0x48, 0x83, 0xc0, 0x08, 0x48, 0x29, 0xd1, 0x48, 0x8d, 0x7c, 0x04, 0x10, 0x5b,
	      JUMP_BACK);
	/* test rax, rax; je; a jump over a trap; then away through a register */
	CHECK(0x08, 0x48, 0x85, 0xc0, 0x74, 0x05, 0xeb, 0x01, 0xcc, 0x5b, 0xff, 0xe0);
}

static void what_cannot_be_told_is_not_guessed(void **state)
{
	CHECK(0, JUMP_BACK);					 /* nothing */
	CHECK(0, 0x48, 0x83, 0xec, 0x10, JUMP_BACK);		 /* less than nothing */
	CHECK(0, 0x48, 0x83, 0xc4, 0x40);			 /* and no jump */
	CHECK(0, 0x48, 0x83, 0xc4, 0x40, 0xc3);			 /* ret */
	CHECK(0, 0x48, 0x89, 0xdc, 0x5b, JUMP_BACK);		 /* mov rsp, rbx */
	CHECK(0, 0x5c, 0x5b, JUMP_BACK);			 /* pop rsp */
	CHECK(0, 0x48, 0x01, 0xc4, 0x5b, JUMP_BACK);		 /* add rsp, rax */
	CHECK(0, 0x48, 0x8d, 0x64, 0x04, 0x10, 0x5b, JUMP_BACK); /* lea rsp, [rsp + rax + 16] */
	CHECK(0, 0x48, 0x83, 0xe4, 0xf0, 0x5b, JUMP_BACK);	 /* and rsp, -16 */
	CHECK(0, 0x48, 0x81, 0xc4, 0x00, 0x20, 0x00, 0x00, JUMP_BACK); /* 8 KiB */
	CHECK(0, 0x06, 0x5b, JUMP_BACK);			       /* no instruction */
}

#define CHECK_END(ret, fp, ...)                                                                    \
	do {                                                                                       \
		const uint8_t bytes[] = {__VA_ARGS__};                                             \
		struct epilogue end;                                                               \
                                                                                                   \
		assert_true(epilogue_find(bytes, sizeof(bytes), &end));                            \
		assert_int_equal(end.ret_off, ret);                                                \
		assert_int_equal(end.fp_off, fp);                                                  \
	} while (0)

static void a_functions_end_says_where_its_return_address_is(void **state)
{
	CHECK_END(0, -1, 0xc3);
	/* pop r9; mov eax, esi; ret */
	CHECK_END(8, -1, 0x41, 0x59, 0x89, 0xf0, 0xc3);
	/* add rsp, 0x10; pop rbx; pop rbp; pop r12; repz ret */
	CHECK_END(0x28, 0x18, 0x48, 0x83, 0xc4, 0x10, 0x5b, 0x5d, 0x41, 0x5c, 0xf3, 0xc3);
}

static void code_that_is_no_end_says_nothing(void **state)
{
	static const uint8_t codes[][8] = {
		{0x53, 0x5b, 0xc3},			    /* push rbx; pop rbx; ret */
		{0x5b, 0x74, 0x01, 0x90, 0xc3},		    /* pop rbx; je */
		{0x5b, 0xe8, 0x00, 0x00, 0x00, 0x00, 0xc3}, /* pop rbx; call */
		{0x5b, 0xe9, 0x00, 0x00, 0x00, 0x00, 0xc3}, /* pop rbx; jmp */
		{0xc9, 0xc3}, /* leave: the stack pointer is not known */
		{0x5b, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90},
	};
	struct epilogue end;

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		assert_false(epilogue_find(codes[i], sizeof(codes[i]), &end));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_taken_back_had_been_saved),
		cmocka_unit_test(what_cannot_be_told_is_not_guessed),
		cmocka_unit_test(a_functions_end_says_where_its_return_address_is),
		cmocka_unit_test(code_that_is_no_end_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
