// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   registers and code bytes of one architecture -> the registers of the calling frame
 * units:   addr in the target's address space, bytes
 * threads: any, values
 * errors:  false where the snapshot does not hold what is needed
 * source:  the psABIs; HotSpot's frame_<cpu>.hpp, macroAssembler_<cpu>.cpp, <cpu>.ad
 *
 * A struct arch holds all that differs between architectures: registers, the interpreter's slots,
 * and how much of a frame there is in a prologue or an epilogue. Each architecture has a file of
 * its own. Every file is built and tested on every machine. arch_native is the architecture of this
 * collector's own samples; recordings may come from another one.
 *
 * A whole frame ends alike on all of them. The word below the caller's stack pointer is the return
 * address. The word below the return address is the caller's frame pointer.
 */
#ifndef FG_UNWIND_ARCH_H
#define FG_UNWIND_ARCH_H

#include "unwind/snapshot.h"

struct unwind_regs {
	uint64_t pc, sp, fp;
	uint64_t link; /* the return address while it is in a register; 0: on the stack */
	uint64_t rbx;  /* of x86_64; beyond the sampled frame, if has_rbx */
	bool has_rbx;
	const uint64_t *leaf; /* all of a sample's registers; NULL beyond the sampled frame */
};

/* How much of a frame there is at a pc. */
enum arch_frame {
	ARCH_FRAME_FULL,
	ARCH_FRAME_FP_LIVE, /* all of it, but the caller's frame pointer is in its register */
	ARCH_FRAME_PUSHED,  /* frame pointer and return address lie on top */
	ARCH_FRAME_LINK,    /* its room alone; frame pointer and return address are in registers */
	ARCH_FRAME_NONE,    /* the return address alone lies on top, or in the link register */
	ARCH_FRAME_BY_FP,   /* the frame pointer's own rule */
};

/* Bytes of code, at most as long as they say. */
struct arch_code {
	const uint8_t *entry; /* from where the code is entered */
	size_t entry_len;
	const uint8_t *at; /* from the pc */
	size_t at_len;
	uint32_t pc_offset; /* of the pc from the entry */
	uint32_t complete;  /* of the first instruction that finds the frame whole; 0: not known */
};

/* Words from an interpreted frame's frame pointer. */
struct arch_interpreter {
	int sender_sp, method;
};

/* What registers hold while an interpreted method is entered, before it has a frame. */
struct arch_entry {
	uint64_t sender_sp; /* the caller's stack pointer; later the register has another use */
	uint64_t method;
	uint64_t return_addr; /* unless it is on the stack */
	uint64_t bcp;	      /* once there is a frame; what that holds is older */
};

struct arch_target {
	uint64_t addr;
	uint32_t size;
};

#define ARCH_CALL_BYTES 16 /* the longest call that is_call knows */

struct arch {
	void (*read_regs)(const uint64_t *sampled, struct unwind_regs *ret);
	/* A DWARF register's value in this frame. */
	bool (*dwarf_reg)(const struct unwind_regs *regs, unsigned int reg, uint64_t *ret);
	uint64_t (*strip)(uint64_t addr); /* a return address without its signature */
	/* Of compiled Java and native wrappers, of a stub. */
	enum arch_frame (*compiled_frame)(const struct arch_code *code);
	enum arch_frame (*stub_frame)(const struct arch_code *code);
	/*
	 * Of code that another runtime than HotSpot made. With ARCH_FRAME_FP_LIVE *ret_size is its
	 * size; code without a frame that is known goes by its frame pointer.
	 */
	enum arch_frame (*foreign_frame)(const struct arch_code *code, bool is_return,
					 uint32_t *ret_size);
	/* Whether the len bytes that end at return_addr are a call of something at target. */
	bool (*is_call)(const uint8_t *code, size_t len, uint64_t return_addr,
			const struct arch_target *target);
	struct arch_interpreter interpreter;
	struct arch_entry (*read_entry)(const uint64_t *sampled);
	/*
	 * Where read_entry's registers keep their values after the entry: whether the sample's
	 * frame pointer is that of the method, so that it has been entered. NULL: they do not.
	 */
	bool (*is_entered)(const struct unwind_regs *regs, const struct snapshot *stack);
	/* Whether the caller's stack pointer is only about to be put there. NULL: it is there. */
	bool (*is_before_entry)(const struct arch_code *code);
	/* See spill.h. NULL: not known of this architecture. */
	bool (*spill_bytes)(const uint8_t *code, size_t len, uint32_t *ret);
	unsigned int exception_pc; /* DWARF's number of where HotSpot keeps that for its blob */
	bool has_link;		   /* calls leave the return address in a register */
	const char *name;	   /* as uname -m says it */
	uint32_t n_regs;	   /* registers of a sample, see sample/perf_regs.h */
	bool stops_behind; /* an interrupt waits for the oldest instruction, see instructions.h */
};

extern const struct arch arch_x86_64, arch_aarch64;
extern const struct arch *const arch_native;

/*
 * From a frame, of which there is so much and which has size bytes when it is whole, to its caller.
 * False leaves regs as they were.
 */
bool arch_leave(const struct arch *arch, enum arch_frame frame, uint32_t size,
		const struct snapshot *stack, struct unwind_regs *regs);

#endif
