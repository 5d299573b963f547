// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about unwind/arch.h, on code as HotSpot's compilers emit it: how much of a frame there is
 * at each instruction, and how the frame is left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unwind/arch.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct expected {
	uint32_t pc_offset;
	enum arch_frame frame;
};

/* Checks how much of a frame there is at each given offset of code that is entered at its start. */
static void check(const struct arch *arch, const uint8_t *code, size_t len, uint32_t complete,
		  const struct expected *expected, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint32_t pc = expected[i].pc_offset;
		const struct arch_code seen = {
			.entry = code,
			.entry_len = complete,
			.at = code + pc,
			.at_len = len - pc,
			.pc_offset = pc,
			.complete = complete,
		};

		assert_int_equal(arch->compiled_frame(&seen), expected[i].frame);
	}
}

static void x86_frame_with_frame_pointer(void **state)
{
	static const uint8_t code[] = {
		0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, /*  0 mov [rsp - 0x14000], eax */
		0x55,					  /*  7 push rbp */
		0x48, 0x8b, 0xec,			  /*  8 mov rbp, rsp */
		0x48, 0x83, 0xec, 0x20,			  /* 11 sub rsp, 32 */
		0x90, 0x90,				  /* 15 body */
		0x48, 0x83, 0xc4, 0x20,			  /* 17 add rsp, 32 */
		0x5d,					  /* 21 pop rbp */
		0x49, 0x3b, 0xa7, 0x48, 0x03, 0x00, 0x00, /* 22 cmp rsp, [r15 + 0x348] */
		0x0f, 0x87, 0x10, 0x00, 0x00, 0x00,	  /* 29 ja */
		0xc3,					  /* 35 ret */
	};
	static const struct expected expected[] = {
		{0, ARCH_FRAME_NONE},	 {7, ARCH_FRAME_NONE},	  {8, ARCH_FRAME_PUSHED},
		{11, ARCH_FRAME_PUSHED}, {15, ARCH_FRAME_FULL},	  {16, ARCH_FRAME_FULL},
		{17, ARCH_FRAME_FULL},	 {21, ARCH_FRAME_PUSHED}, {22, ARCH_FRAME_NONE},
		{29, ARCH_FRAME_NONE},	 {35, ARCH_FRAME_NONE},
	};

	check(&arch_x86_64, code, sizeof(code), 15, expected, COUNT(expected));
}

static void x86_frame_that_begins_by_the_sub(void **state)
{
	static const uint8_t code[] = {
		0x48, 0x81, 0xec, 0x98, 0x00, 0x00, 0x00,	/*  0 sub rsp, 152 */
		0x48, 0x89, 0xac, 0x24, 0x90, 0x00, 0x00, 0x00, /*  7 mov [rsp + 144], rbp */
		0x90,						/* 15 body */
		0x49, 0x3b, 0x67, 0x28,				/* 16 cmp rsp, [r15 + 40] */
		0x0f, 0x87, 0x10, 0x00, 0x00, 0x00,		/* 20 ja: of a loop, not a return */
		0x90,
	};
	static const struct expected expected[] = {
		{0, ARCH_FRAME_NONE},  {7, ARCH_FRAME_FP_LIVE}, {15, ARCH_FRAME_FULL},
		{16, ARCH_FRAME_FULL}, {20, ARCH_FRAME_FULL},
	};

	check(&arch_x86_64, code, sizeof(code), 15, expected, COUNT(expected));
}

static void x86_frame_that_ends_by_a_poll_of_jdk_11(void **state)
{
	static const uint8_t code[] = {
		0x55,				    /*  0 push rbp */
		0x48, 0x83, 0xec, 0x20,		    /*  1 sub rsp, 32 */
		0x85, 0x05, 0x00, 0x10, 0x00, 0x00, /*  5 test [rip + 0x1000], eax: of a loop */
		0x48, 0x83, 0xc4, 0x20,		    /* 11 add rsp, 32 */
		0x5d,				    /* 15 pop rbp */
		0x4d, 0x8b, 0x97, 0x08, 0x01, 0x00, 0x00, /* 16 mov r10, [r15 + 0x108] */
		0x41, 0x85, 0x02,			  /* 23 test [r10], eax */
		0xc3,					  /* 26 ret */
		0x4d, 0x8b, 0x57, 0x70,			  /* 27 mov r10, [r15 + 0x70] */
		0x41, 0x85, 0x02,			  /* 31 test [r10], eax */
		0xc3,					  /* 34 ret */
		0x85, 0x05, 0x00, 0x10, 0x00, 0x00,	  /* 35 test [rip + 0x1000], eax */
		0xc3,					  /* 41 ret */
		0x4d, 0x8b, 0x97, 0x08, 0x01, 0x00, 0x00, /* 42 mov r10: of a loop */
		0x41, 0x85, 0x02, 0x90,			  /* 49 test [r10], eax */
	};
	static const struct expected expected[] = {
		{5, ARCH_FRAME_FULL},  {15, ARCH_FRAME_PUSHED}, {16, ARCH_FRAME_NONE},
		{23, ARCH_FRAME_NONE}, {26, ARCH_FRAME_NONE},	{27, ARCH_FRAME_NONE},
		{31, ARCH_FRAME_NONE}, {34, ARCH_FRAME_NONE},	{35, ARCH_FRAME_NONE},
		{41, ARCH_FRAME_NONE}, {42, ARCH_FRAME_FULL},	{49, ARCH_FRAME_FULL},
	};

	check(&arch_x86_64, code, sizeof(code), 5, expected, COUNT(expected));
}

static void x86_stub_with_and_without_a_frame(void **state)
{
	static const uint8_t framed[] = {0x55, 0x48, 0x8b, 0xec, 0x90, 0x90, 0x5d, 0xc3};
	static const uint8_t bare[] = {0x90, 0x90, 0xc3};
	struct arch_code code = {.entry = framed, .entry_len = sizeof(framed)};
	static const struct expected expected[] = {
		{0, ARCH_FRAME_NONE},  {1, ARCH_FRAME_PUSHED}, {4, ARCH_FRAME_BY_FP},
		{5, ARCH_FRAME_BY_FP}, {6, ARCH_FRAME_PUSHED}, {7, ARCH_FRAME_NONE},
	};

	for (size_t i = 0; i < COUNT(expected); i++) {
		code.pc_offset = expected[i].pc_offset;
		code.at = framed + code.pc_offset;
		code.at_len = sizeof(framed) - code.pc_offset;
		assert_int_equal(arch_x86_64.stub_frame(&code), expected[i].frame);
	}
	code = (struct arch_code){
		.entry = bare, .entry_len = 3, .at = bare + 1, .at_len = 2, .pc_offset = 1};
	assert_int_equal(arch_x86_64.stub_frame(&code), ARCH_FRAME_NONE);
}

static void check_foreign(const struct arch *arch, const uint8_t *code, size_t len,
			  const struct expected *expected, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint32_t pc = expected[i].pc_offset;
		const struct arch_code seen = {
			.entry = code,
			.entry_len = len,
			.at = code + pc,
			.at_len = len - pc,
			.pc_offset = pc,
		};
		uint32_t size = 0;

		assert_int_equal(arch->foreign_frame(&seen, false, &size), expected[i].frame);
		if (expected[i].frame == ARCH_FRAME_FP_LIVE)
			assert_int_equal(size, 16);
	}
}

static void x86_frames_of_other_runtimes(void **state)
{
	static const uint8_t v8[] = {
		0x48, 0x8b, 0x59, 0xf8, /*  0 mov rbx, [rcx - 8] */
		0x55,			/*  4 push rbp */
		0x48, 0x89, 0xe5,	/*  5 mov rbp, rsp */
		0x90,			/*  8 body */
		0x48, 0x8b, 0xe5,	/*  9 mov rsp, rbp */
		0x5d,			/* 12 pop rbp */
		0xc2, 0x08, 0x00,	/* 13 ret 8 */
	};
	static const struct expected of_v8[] = {
		{0, ARCH_FRAME_NONE},  {4, ARCH_FRAME_NONE},	{5, ARCH_FRAME_PUSHED},
		{8, ARCH_FRAME_BY_FP}, {12, ARCH_FRAME_PUSHED}, {13, ARCH_FRAME_NONE},
	};
	static const uint8_t python[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08,
					 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3};
	static const struct expected of_python[] = {
		{0, ARCH_FRAME_NONE},	  {4, ARCH_FRAME_NONE},	 {8, ARCH_FRAME_FP_LIVE},
		{10, ARCH_FRAME_FP_LIVE}, {14, ARCH_FRAME_NONE},
	};

	check_foreign(&arch_x86_64, v8, sizeof(v8), of_v8, COUNT(of_v8));
	check_foreign(&arch_x86_64, python, sizeof(python), of_python, COUNT(of_python));
}

/* Writes little-endian words, as they are in the instruction stream on both architectures. */
static void words(uint8_t *code, const uint32_t *from, size_t n)
{
	for (size_t i = 0; i < 4 * n; i++)
		code[i] = (uint8_t)(from[i / 4] >> 8 * (i % 4));
}

static void aarch64_frame(void **state)
{
	static const uint32_t text[] = {
		0xd10103ff, /*  0 sub sp, sp, #64 */
		0xa9037bfd, /*  4 stp x29, x30, [sp, #48] */
		0xd503201f, /*  8 body */
		0xa9437bfd, /* 12 ldp x29, x30, [sp, #48] */
		0x910103ff, /* 16 add sp, sp, #64 */
		0xf9402788, /* 20 ldr x8, [x28, #72] */
		0xeb2863ff, /* 24 cmp sp, x8 */
		0x54000068, /* 28 b.hi */
		0xd65f03c0, /* 32 ret */
	};
	static const struct expected expected[] = {
		{0, ARCH_FRAME_NONE},  {4, ARCH_FRAME_LINK},  {8, ARCH_FRAME_FULL},
		{12, ARCH_FRAME_FULL}, {16, ARCH_FRAME_LINK}, {20, ARCH_FRAME_NONE},
		{24, ARCH_FRAME_NONE}, {28, ARCH_FRAME_NONE}, {32, ARCH_FRAME_NONE},
	};
	uint8_t code[sizeof(text)];

	words(code, text, COUNT(text));
	check(&arch_aarch64, code, sizeof(code), 8, expected, COUNT(expected));
}

static void aarch64_frames_of_other_runtimes(void **state)
{
	static const uint32_t text[] = {
		0xd503201f, /*  0 nop */
		0xa9be7bfd, /*  4 stp x29, x30, [sp, #-32]! */
		0x910003fd, /*  8 mov x29, sp */
		0xd503201f, /* 12 body */
		0xa8c27bfd, /* 16 ldp x29, x30, [sp], #32 */
		0xd65f03c0, /* 20 ret */
	};
	static const struct expected expected[] = {
		{0, ARCH_FRAME_NONE},	{4, ARCH_FRAME_NONE},	{8, ARCH_FRAME_PUSHED},
		{12, ARCH_FRAME_BY_FP}, {16, ARCH_FRAME_BY_FP}, {20, ARCH_FRAME_NONE},
	};
	uint8_t code[sizeof(text)];

	words(code, text, COUNT(text));
	check_foreign(&arch_aarch64, code, sizeof(code), expected, COUNT(expected));
}

static void aarch64_large_frame(void **state)
{
	static const uint32_t text[] = {
		0xa9bf7bfd, /*  0 stp x29, x30, [sp, #-16]! */
		0x910003fd, /*  4 mov x29, sp */
		0xd14007ff, /*  8 sub sp, sp, #1, lsl #12 */
		0xd503201f, /* 12 body */
	};
	static const struct expected expected[] = {
		{0, ARCH_FRAME_NONE},
		{4, ARCH_FRAME_PUSHED},
		{8, ARCH_FRAME_PUSHED},
		{12, ARCH_FRAME_FULL},
	};
	uint8_t code[sizeof(text)];

	words(code, text, COUNT(text));
	check(&arch_aarch64, code, sizeof(code), 12, expected, COUNT(expected));
}

#define AT UINT64_C(0x7000)

/*
 * A whole frame of 32 bytes at AT: two words of its own, the caller's frame pointer, the return
 * address.
 */
static const uint64_t words_of_stack[] = {0x11, 0x22, 0x7100, 0x4444, 0x55, 0x66};
static const struct snapshot stack = {
	.addr = AT, .bytes = (const uint8_t *)words_of_stack, .len = sizeof(words_of_stack)};

static struct unwind_regs left(const struct arch *arch, enum arch_frame frame, uint64_t sp)
{
	struct unwind_regs regs = {.pc = 1, .sp = sp, .fp = AT + 16, .link = 0x9999};

	assert_true(arch_leave(arch, frame, 32, &stack, &regs));
	return regs;
}

static void frames_are_left_for_their_callers(void **state)
{
	struct unwind_regs regs = left(&arch_x86_64, ARCH_FRAME_FULL, AT);

	assert_int_equal(regs.pc, 0x4444);
	assert_int_equal(regs.fp, 0x7100);
	assert_int_equal(regs.sp, AT + 32);
	regs = left(&arch_x86_64, ARCH_FRAME_FP_LIVE, AT);
	assert_int_equal(regs.fp, AT + 16);
	regs = left(&arch_x86_64, ARCH_FRAME_PUSHED, AT + 16);
	assert_int_equal(regs.pc, 0x4444);
	assert_int_equal(regs.fp, 0x7100);
	regs = left(&arch_x86_64, ARCH_FRAME_NONE, AT + 24);
	assert_int_equal(regs.pc, 0x4444);
	assert_int_equal(regs.fp, AT + 16);
	assert_int_equal(regs.sp, AT + 32);
	regs = left(&arch_x86_64, ARCH_FRAME_BY_FP, AT);
	assert_int_equal(regs.pc, 0x4444);
	regs = left(&arch_aarch64, ARCH_FRAME_NONE, AT + 24);
	assert_int_equal(regs.pc, 0x9999);
	assert_int_equal(regs.sp, AT + 24);
	regs = left(&arch_aarch64, ARCH_FRAME_LINK, AT);
	assert_int_equal(regs.pc, 0x9999);
	assert_int_equal(regs.sp, AT + 32);
}

static void what_was_not_copied_is_not_made_up(void **state)
{
	const struct unwind_regs before = {.pc = 1, .sp = AT + 24, .fp = AT + 40, .link = 0};
	static const enum arch_frame frames[] = {ARCH_FRAME_FULL, ARCH_FRAME_FP_LIVE,
						 ARCH_FRAME_BY_FP};

	for (size_t i = 0; i < COUNT(frames); i++) {
		struct unwind_regs regs = before;

		assert_false(arch_leave(&arch_x86_64, frames[i], 32, &stack, &regs));
		assert_memory_equal(&regs, &before, sizeof(regs));
	}
	struct unwind_regs regs = before;

	assert_false(arch_leave(&arch_aarch64, ARCH_FRAME_NONE, 0, &stack, &regs));
	regs.sp = UINT64_MAX - 8;
	assert_false(arch_leave(&arch_x86_64, ARCH_FRAME_FULL, 32, &stack, &regs));
	assert_false(arch_leave(&arch_x86_64, ARCH_FRAME_NONE, 0, &stack, &regs));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_frame_with_frame_pointer),
		cmocka_unit_test(x86_frame_that_begins_by_the_sub),
		cmocka_unit_test(x86_frame_that_ends_by_a_poll_of_jdk_11),
		cmocka_unit_test(x86_stub_with_and_without_a_frame),
		cmocka_unit_test(x86_frames_of_other_runtimes),
		cmocka_unit_test(aarch64_frame),
		cmocka_unit_test(aarch64_large_frame),
		cmocka_unit_test(aarch64_frames_of_other_runtimes),
		cmocka_unit_test(frames_are_left_for_their_callers),
		cmocka_unit_test(what_was_not_copied_is_not_made_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
