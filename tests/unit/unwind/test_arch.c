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

/* Of all frames here whose size matters. */
#define FRAME_BYTES 64

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
			.before_len = pc,
			.size = FRAME_BYTES,
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

/* What C2 of JDK 17 makes of a method into which ReentrantLock.lock() was inlined. */
static const uint8_t reserved[] = {
	0x90,					  /*  0 body */
	0x48, 0x83, 0xc4, 0x30,			  /*  1 add rsp, 48 */
	0x5d,					  /*  5 pop rbp */
	0x49, 0x3b, 0xa7, 0xb8, 0x03, 0x00, 0x00, /*  6 cmp rsp, [r15 + 0x3b8] */
	0x0f, 0x82, 0x3f, 0x00, 0x00, 0x00,	  /* 13 jb 82 */
	0x49, 0x8b, 0xff,			  /* 19 mov rdi, r15 */
	0xf7, 0xc4, 0x0f, 0x00, 0x00, 0x00,	  /* 22 test esp, 15 */
	0x0f, 0x84, 0x12, 0x00, 0x00, 0x00,	  /* 28 je 52 */
	0x48, 0x83, 0xec, 0x08,			  /* 34 sub rsp, 8 */
	0xe8, 0x91, 0x41, 0x01, 0x15,		  /* 38 call enable_stack_reserved_zone */
	0x48, 0x83, 0xc4, 0x08,			  /* 43 add rsp, 8 */
	0xe9, 0x05, 0x00, 0x00, 0x00,		  /* 47 jmp 57 */
	0xe8, 0x83, 0x41, 0x01, 0x15,		  /* 52 call enable_stack_reserved_zone */
	0xe9, 0x6e, 0xcc, 0xa6, 0xff,		  /* 57 jmp to throw the error that was put off */
	0x48, 0xbf, 0x4a, 0xd6, 0x1b, 0x2a, 0x09, 0x7f, 0x00, 0x00, /* 62 mov rdi: never run */
	0x48, 0x83, 0xe4, 0xf0,					    /* 72 and rsp, -16 */
	0xe8, 0xcb, 0x58, 0xe3, 0x14,				    /* 76 call */
	0xf4,							    /* 81 hlt */
	0x49, 0x3b, 0xa7, 0x40, 0x03, 0x00, 0x00,		    /* 82 cmp rsp, [r15 + 0x340] */
	0x0f, 0x87, 0x39, 0x01, 0x00, 0x00,			    /* 89 ja */
	0xc3,							    /* 95 ret */
	0x90,							    /* 96 body */
};

static void x86_frame_that_is_gone_when_the_reserved_zone_is_looked_at(void **state)
{
	static const struct expected expected[] = {
		{0, ARCH_FRAME_FULL},  {1, ARCH_FRAME_FULL},  {5, ARCH_FRAME_PUSHED},
		{6, ARCH_FRAME_NONE},  {13, ARCH_FRAME_NONE}, {19, ARCH_FRAME_NONE},
		{22, ARCH_FRAME_NONE}, {28, ARCH_FRAME_NONE}, {34, ARCH_FRAME_NONE},
		{38, ARCH_FRAME_WORD}, {43, ARCH_FRAME_WORD}, {47, ARCH_FRAME_NONE},
		{52, ARCH_FRAME_NONE}, {57, ARCH_FRAME_NONE}, {82, ARCH_FRAME_NONE},
		{89, ARCH_FRAME_NONE}, {95, ARCH_FRAME_NONE}, {96, ARCH_FRAME_FULL},
	};

	check(&arch_x86_64, reserved, sizeof(reserved), 0, expected, COUNT(expected));
}

/* Of a frame without words of its own only the pop is taken down. */
static void x86_smallest_frame_that_looks_at_the_reserved_zone(void **state)
{
	static const struct expected expected[] = {
		{0, ARCH_FRAME_PUSHED}, {1, ARCH_FRAME_NONE}, {8, ARCH_FRAME_NONE}};

	check(&arch_x86_64, reserved + 5, sizeof(reserved) - 5, 0, expected, COUNT(expected));
}

static void x86_frame_is_gone_around_the_calls_of_its_end_alone(void **state)
{
	static const struct expected expected[] = {{43, ARCH_FRAME_WORD}, {57, ARCH_FRAME_NONE}};

	for (size_t i = 0; i < COUNT(expected); i++) {
		const uint32_t pc = expected[i].pc_offset;
		struct arch_code seen = {.at = reserved + pc,
					 .at_len = sizeof(reserved) - pc,
					 .before_len = pc,
					 .size = FRAME_BYTES};

		assert_int_equal(arch_x86_64.calling_frame(&seen), expected[i].frame);
		/* The same bytes are no end of a frame of another size. */
		seen.size = FRAME_BYTES + 16;
		assert_int_equal(arch_x86_64.calling_frame(&seen), ARCH_FRAME_FULL);
	}
}

/* An exception that is not caught leaves: the frame is taken down, and a stub jumped to. */
static void x86_frame_that_an_exception_has_left(void **state)
{
	static const uint8_t code[] = {
		0x48, 0x81, 0xc4, 0x30, 0x00, 0x00, 0x00, /*  0 add rsp, 48 */
		0x5d,					  /*  7 pop rbp */
		0xe9, 0x2d, 0x38, 0x59, 0x07,		  /*  8 jmp */
		0x90,					  /* 13 other code */
	};
	static const struct expected expected[] = {
		{7, ARCH_FRAME_PUSHED}, {8, ARCH_FRAME_NONE}, {13, ARCH_FRAME_FULL}};

	check(&arch_x86_64, code, sizeof(code), 0, expected, COUNT(expected));
}

/* Where a poll before a return leads to, far behind the return: with an address, or relative. */
static void x86_poll_that_a_method_does_not_pass(void **state)
{
	static const uint8_t code[] = {
		0x90,							    /*  0 other code */
		0x49, 0xba, 0x26, 0x3c, 0xed, 0x14, 0x09, 0x7f, 0x00, 0x00, /*  1 mov r10, poll */
		0x4d, 0x89, 0x97, 0x58, 0x03, 0x00, 0x00,	   /* 11 mov [r15 + 0x358], r10 */
		0xe9, 0x7e, 0xcb, 0xab, 0xff,			   /* 18 jmp */
		0x4c, 0x8d, 0x15, 0x00, 0x10, 0x00, 0x00,	   /* 23 lea r10, [rip + 0x1000] */
		0x4d, 0x89, 0x57, 0x58,				   /* 30 mov [r15 + 0x58], r10 */
		0xe9, 0x7e, 0xcb, 0xab, 0xff,			   /* 34 jmp */
		0x4d, 0x89, 0x57, 0x58, 0xe9, 0,    0,	  0,	0, /* 39 another store and jmp */
	};
	static const struct expected expected[] = {
		{0, ARCH_FRAME_FULL},  {1, ARCH_FRAME_NONE},  {11, ARCH_FRAME_NONE},
		{18, ARCH_FRAME_NONE}, {23, ARCH_FRAME_NONE}, {30, ARCH_FRAME_NONE},
		{34, ARCH_FRAME_NONE}, {39, ARCH_FRAME_FULL}, {43, ARCH_FRAME_FULL},
	};

	check(&arch_x86_64, code, sizeof(code), 0, expected, COUNT(expected));
}

static struct left_frame left_at(const uint8_t *code, size_t len, size_t at)
{
	const struct arch_code seen = {.at = code + at, .at_len = len - at, .before_len = at};
	struct left_frame ret = {0};

	assert_true(arch_x86_64.interpreted_left(&seen, &ret));
	return ret;
}

#define RBX 3
#define R13 13

/* The end of an interpreted method, of JDK 25. */
static void x86_interpreted_frame_that_is_left(void **state)
{
	static const uint8_t code[] = {
		0x48, 0x8b, 0x5d, 0xf8,				/*  0 mov rbx, [rbp - 8] */
		0xc9,						/*  4 leave */
		0x41, 0xc6, 0x87, 0xbe, 0x03, 0x00, 0x00, 0x00, /*  5 mov byte [r15 + d], 0 */
		0x41, 0x5d,					/* 13 pop r13 */
		0x48, 0x8b, 0xe3,				/* 15 mov rsp, rbx */
		0x49, 0x3b, 0xa7, 0x20, 0x06, 0x00, 0x00,	/* 18 cmp rsp, [r15 + d] */
		0x72, 0x0b,					/* 25 jb 38 */
		0x49, 0xc7, 0x87, 0x20, 0x06, 0x00, 0x00, 0,	0, 0, 0, /* 27 mov [r15 + d], 0 */
		0x41, 0xff, 0xe5,					 /* 38 jmp r13 */
		0x90,							 /* 41 other code */
	};
	static const size_t on_stack[] = {5, 13}, in_reg[] = {18, 25, 27, 38};
	struct arch_code seen = {.at = code, .at_len = sizeof(code)};
	struct left_frame left;

	for (size_t i = 0; i < COUNT(on_stack); i++) {
		left = left_at(code, sizeof(code), on_stack[i]);
		assert_false(left.is_in_reg);
		assert_int_equal(left.ret_off, 0);
		assert_true(left.is_sp_in_reg);
		assert_int_equal(left.sp_reg, RBX);
	}
	left = left_at(code, sizeof(code), 15);
	assert_true(left.is_in_reg && left.is_sp_in_reg);
	assert_int_equal(left.ret_reg, R13);
	for (size_t i = 0; i < COUNT(in_reg); i++) {
		left = left_at(code, sizeof(code), in_reg[i]);
		assert_true(left.is_in_reg && !left.is_sp_in_reg);
		assert_int_equal(left.ret_reg, R13);
		assert_int_equal(left.sp_off, 0);
	}
	for (size_t at = 0; at <= 41; at += at == 0 ? 4 : 37) { /* 0, 4, 41 */
		seen.at = code + at;
		seen.at_len = sizeof(code) - at;
		seen.before_len = at;
		assert_false(arch_x86_64.interpreted_left(&seen, &left));
	}
}

/* An exception leaves an interpreted method: the VM is asked who handles it. Of JDK 17. */
static void x86_interpreted_frame_that_an_exception_has_left(void **state)
{
	static const uint8_t code[] = {
		0xc9,					  /*  0 leave */
		0x5a,					  /*  1 pop rdx */
		0x48, 0x8b, 0xe3,			  /*  2 mov rsp, rbx */
		0x49, 0x8b, 0x87, 0xe8, 0x02, 0x00, 0x00, /*  5 mov rax, [r15 + 0x2e8] */
		0x50,					  /* 12 push rax */
		0x52,					  /* 13 push rdx */
		0x49, 0x8b, 0xff,			  /* 14 mov rdi, r15 */
		0xe8, 0x00, 0x00, 0x00, 0x00,		  /* 17 call */
		0x48, 0x8b, 0xd8,			  /* 22 mov rbx, rax */
		0x5a,					  /* 25 pop rdx */
		0x58,					  /* 26 pop rax */
		0xff, 0xe3,				  /* 27 jmp rbx */
	};
	struct left_frame left = left_at(code, sizeof(code), 13);

	assert_true(left.is_in_reg && !left.is_sp_in_reg);
	assert_int_equal(left.sp_off, 8);
	left = left_at(code, sizeof(code), 22);
	assert_false(left.is_in_reg);
	assert_int_equal(left.ret_off, 0);
	assert_int_equal(left.sp_off, 16);
	left = left_at(code, sizeof(code), 27);
	assert_true(left.is_in_reg);
	assert_int_equal(left.sp_off, 0);
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

static void aarch64_frame_that_is_gone_when_the_reserved_zone_is_looked_at(void **state)
{
	static const uint32_t text[] = {
		0xd503201f, /*  0 body */
		0xa9437bfd, /*  4 ldp x29, x30, [sp, #48] */
		0x910103ff, /*  8 add sp, sp, #64 */
		0xf941df88, /* 12 ldr x8, [x28, #952] */
		0xeb2863ff, /* 16 cmp sp, x8 */
		0x54000143, /* 20 b.lo 60 */
		0xa9bf7bfd, /* 24 stp x29, x30, [sp, #-16]! */
		0x910003fd, /* 28 mov x29, sp */
		0xd2800008, /* 32 mov x8, #0 */
		0xaa1c03e0, /* 36 mov x0, x28 */
		0xd63f0100, /* 40 blr x8 */
		0xa8c17bfd, /* 44 ldp x29, x30, [sp], #16 */
		0xd2800008, /* 48 mov x8, #0 */
		0xd61f0100, /* 52 br x8 */
		0xd4200000, /* 56 brk */
		0xf9402788, /* 60 ldr x8, [x28, #72] */
		0xeb2863ff, /* 64 cmp sp, x8 */
		0x54000068, /* 68 b.hi */
		0xd65f03c0, /* 72 ret */
	};
	static const struct expected expected[] = {
		{0, ARCH_FRAME_FULL},  {4, ARCH_FRAME_FULL},  {8, ARCH_FRAME_LINK},
		{12, ARCH_FRAME_NONE}, {16, ARCH_FRAME_NONE}, {20, ARCH_FRAME_NONE},
		{60, ARCH_FRAME_NONE}, {72, ARCH_FRAME_NONE},
	};
	uint8_t code[sizeof(text)];
	struct arch_code called = {.at = code + 44, .at_len = sizeof(code) - 44, .before_len = 44};

	words(code, text, COUNT(text));
	check(&arch_aarch64, code, sizeof(code), 0, expected, COUNT(expected));
	assert_int_equal(arch_aarch64.calling_frame(&called), ARCH_FRAME_BY_FP);
	called.before_len = 8; /* the code in front is not known */
	assert_int_equal(arch_aarch64.calling_frame(&called), ARCH_FRAME_FULL);
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
	regs = left(&arch_x86_64, ARCH_FRAME_WORD, AT + 16);
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

/* The last bytes of code; zeros lie before them. */
static bool ends_with_call(const struct arch *arch, const uint8_t *last, size_t len)
{
	uint8_t code[ARCH_CALL_BYTES] = {0};

	memcpy(code + sizeof(code) - len, last, len);
	return arch->ends_with_call(code, sizeof(code));
}

#define ENDS_WITH_CALL(arch, ...)                                                                  \
	ends_with_call(arch, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void calls_are_told_from_other_code(void **state)
{
	assert_true(ENDS_WITH_CALL(&arch_x86_64, 0xe8, 1, 2, 3, 4));
	assert_true(ENDS_WITH_CALL(&arch_x86_64, 0xff, 0xd0));
	assert_true(ENDS_WITH_CALL(&arch_x86_64, 0x41, 0xff, 0xd1));
	assert_true(ENDS_WITH_CALL(&arch_x86_64, 0xff, 0x50, 0x18));
	assert_true(ENDS_WITH_CALL(&arch_x86_64, 0xff, 0x54, 0x24, 0x18));
	assert_true(ENDS_WITH_CALL(&arch_x86_64, 0xff, 0x14, 0xc8));
	assert_true(ENDS_WITH_CALL(&arch_x86_64, 0xff, 0x15, 1, 2, 3, 4));
	assert_true(ENDS_WITH_CALL(&arch_x86_64, 0xff, 0x90, 1, 2, 3, 4));
	assert_true(ENDS_WITH_CALL(&arch_x86_64, 0xff, 0x94, 0xc8, 1, 2, 3, 4));
	assert_false(ENDS_WITH_CALL(&arch_x86_64, 0xff, 0xe0)); /* jmp rax */
	assert_false(ENDS_WITH_CALL(&arch_x86_64, 0xff, 0xd0, 0x90));
	assert_false(ENDS_WITH_CALL(&arch_x86_64, 0x90));
	assert_true(ENDS_WITH_CALL(&arch_aarch64, 0x01, 0x00, 0x00, 0x94));  /* bl */
	assert_true(ENDS_WITH_CALL(&arch_aarch64, 0x20, 0x00, 0x3f, 0xd6));  /* blr x1 */
	assert_false(ENDS_WITH_CALL(&arch_aarch64, 0x01, 0x00, 0x00, 0x14)); /* b */
	assert_false(ENDS_WITH_CALL(&arch_aarch64, 0xc0, 0x03, 0x5f, 0xd6)); /* ret */
}

static void system_calls_are_told_from_other_code(void **state)
{
	static const uint8_t x86_64[ARCH_CALL_BYTES] = {[14] = 0x0f, 0x05};
	static const uint8_t aarch64[ARCH_CALL_BYTES] = {[12] = 0x01, 0x00, 0x00, 0xd4};

	assert_true(arch_x86_64.ends_with_syscall(x86_64, sizeof(x86_64)));
	assert_false(arch_x86_64.ends_with_syscall(aarch64, sizeof(aarch64)));
	assert_true(arch_aarch64.ends_with_syscall(aarch64, sizeof(aarch64)));
	assert_false(arch_aarch64.ends_with_syscall(x86_64, sizeof(x86_64)));
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
		cmocka_unit_test(x86_frame_that_is_gone_when_the_reserved_zone_is_looked_at),
		cmocka_unit_test(x86_smallest_frame_that_looks_at_the_reserved_zone),
		cmocka_unit_test(x86_frame_is_gone_around_the_calls_of_its_end_alone),
		cmocka_unit_test(x86_frame_that_an_exception_has_left),
		cmocka_unit_test(x86_poll_that_a_method_does_not_pass),
		cmocka_unit_test(x86_interpreted_frame_that_is_left),
		cmocka_unit_test(x86_interpreted_frame_that_an_exception_has_left),
		cmocka_unit_test(x86_stub_with_and_without_a_frame),
		cmocka_unit_test(x86_frames_of_other_runtimes),
		cmocka_unit_test(aarch64_frame),
		cmocka_unit_test(aarch64_frame_that_is_gone_when_the_reserved_zone_is_looked_at),
		cmocka_unit_test(aarch64_large_frame),
		cmocka_unit_test(aarch64_frames_of_other_runtimes),
		cmocka_unit_test(frames_are_left_for_their_callers),
		cmocka_unit_test(calls_are_told_from_other_code),
		cmocka_unit_test(system_calls_are_told_from_other_code),
		cmocka_unit_test(what_was_not_copied_is_not_made_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
