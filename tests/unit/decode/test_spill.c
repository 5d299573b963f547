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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_taken_back_had_been_saved),
		cmocka_unit_test(what_cannot_be_told_is_not_guessed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
