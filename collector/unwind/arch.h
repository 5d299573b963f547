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

#include "decode/left_frame.h"
#include "decode/spill.h"
#include "unwind/snapshot.h"

struct unwind_regs {
	uint64_t pc, sp, fp;
	uint64_t link; /* return address while a register holds it; 0: the stack holds it */
	uint64_t rbx;  /* x86_64's rbx in callers of the sample's frame, valid if has_rbx */
	bool has_rbx;
	const uint64_t *leaf; /* all of a sample's registers; NULL in callers of its frame */
};

/* How much of a frame there is at a pc. */
enum arch_frame {
	ARCH_FRAME_FULL,
	ARCH_FRAME_FP_LIVE, /* whole, but the caller's frame pointer is still in its register */
	ARCH_FRAME_PUSHED,  /* saved frame pointer and return address lie on top of the stack */
	ARCH_FRAME_LINK,    /* only its room; frame pointer and return address are in registers */
	ARCH_FRAME_NONE,  /* only the return address, on top of the stack or in the link register */
	ARCH_FRAME_WORD,  /* a word, and above it the return address */
	ARCH_FRAME_BY_FP, /* the frame is left by its frame pointer */
	ARCH_FRAME_LEFT,  /* of interpreted code, as a struct left_frame says */
};

/* Bytes of generated code at three places. */
struct arch_code {
	const uint8_t *entry; /* bytes from the code's entry on */
	size_t entry_len;
	const uint8_t *at; /* bytes from the pc on */
	size_t at_len;
	size_t before_len;  /* bytes in front of the pc, which end where those at the pc begin */
	uint32_t size;	    /* bytes of the whole frame; 0: unknown */
	uint32_t pc_offset; /* distance of the pc from the entry */
	uint32_t complete;  /* distance of the first instruction with a whole frame; 0: unknown */
};

/* Slots of an interpreted frame, in words from its frame pointer. */
struct arch_interpreter {
	int sender_sp, method;
};

/* Values in registers at the entry of an interpreted method, before the method has a frame. */
struct arch_entry {
	uint64_t sender_sp; /* the caller's stack pointer; later the register has another use */
	uint64_t method;
	uint64_t return_addr; /* valid unless the stack holds the return address */
	uint64_t bcp; /* address of the bytecode once there is a frame; the frame's slot is older */
};

struct arch_target {
	uint64_t addr;
	uint32_t size;
};

#define ARCH_CALL_BYTES 16 /* the longest call that is_call knows */

struct arch {
	void (*read_regs)(const uint64_t *sampled, struct unwind_regs *ret);
	/* Reads the value of a DWARF register in this frame. */
	bool (*dwarf_reg)(const struct unwind_regs *regs, unsigned int reg, uint64_t *ret);
	uint64_t (*strip)(uint64_t addr); /* removes the signature from a return address */
	/* How much of a frame there is in compiled Java or a native wrapper, and in a stub. */
	enum arch_frame (*compiled_frame)(const struct arch_code *code);
	/*
	 * How much of a frame there is in compiled code that has called a function of a file: FULL,
	 * unless the code has taken its frame down before the call.
	 */
	enum arch_frame (*calling_frame)(const struct arch_code *code);
	/*
	 * Whether the code at the pc is a deoptimization handler: its address is the return address
	 * of frames whose code has been invalidated.
	 */
	bool (*is_deopt_handler)(const struct arch_code *code);
	/*
	 * Whether interpreted code at the pc has taken its frame down, and what is left. NULL: not
	 * known for this architecture.
	 */
	bool (*interpreted_left)(const struct arch_code *code, struct left_frame *ret);
	enum arch_frame (*stub_frame)(const struct arch_code *code);
	/*
	 * How much of a frame there is in code of another runtime than HotSpot. With
	 * ARCH_FRAME_FP_LIVE *ret_size is the frame's size. Code without a known frame has
	 * ARCH_FRAME_BY_FP.
	 */
	enum arch_frame (*foreign_frame)(const struct arch_code *code, bool is_return,
					 uint32_t *ret_size);
	/* Whether the len bytes of code in front of return_addr end with a call into target. */
	bool (*is_call)(const uint8_t *code, size_t len, uint64_t return_addr,
			const struct arch_target *target);
	/* Whether the len bytes of code, at least ARCH_CALL_BYTES, end with a call of any kind. */
	bool (*ends_with_call)(const uint8_t *code, size_t len);
	/*
	 * Whether the sample's registers say that the pc may lie behind a system call. NULL: they
	 * do not say.
	 */
	bool (*may_have_called_kernel)(const struct unwind_regs *regs);
	/* Whether the len bytes of code, at least ARCH_CALL_BYTES, end with a system call. */
	bool (*ends_with_syscall)(const uint8_t *code, size_t len);
	/*
	 * Whether the len bytes of code, at least one, end with a breakpoint behind which the pc
	 * lies while the kernel handles it. NULL: the pc lies at the breakpoint.
	 */
	bool (*ends_with_breakpoint)(const uint8_t *code, size_t len);
	struct arch_interpreter interpreter;
	struct arch_entry (*read_entry)(const uint64_t *sampled);
	/*
	 * Whether the method has been entered: the sample's frame pointer is the method's own.
	 * NULL: the registers of read_entry do not keep their values after the entry.
	 */
	bool (*is_entered)(const struct unwind_regs *regs, const struct snapshot *stack);
	/*
	 * Whether the code at the pc has yet to put the caller's stack pointer into the register of
	 * read_entry. NULL: the code has always done so.
	 */
	bool (*is_before_entry)(const struct arch_code *code);
	/* See spill.h. NULL: not known for this architecture. */
	bool (*spill_bytes)(const uint8_t *code, size_t len, uint32_t *ret);
	bool (*epilogue_find)(const uint8_t *code, size_t len, struct epilogue *ret);
	unsigned int exception_pc; /* DWARF number of the exception blob's register for the pc */
	unsigned int thawed_sp;	   /* DWARF number of the register for the sp of thawed frames */
	uint32_t call_stub_bytes;  /* of the call stub's frame, from its frame pointer down to the
				      arguments; 0: not known */
	bool has_link;		   /* calls leave the return address in a register */
	const char *name;	   /* the name that uname -m prints */
	uint32_t n_regs;	   /* number of a sample's registers, see sample/sample_regs.h */
	bool stops_behind; /* an interrupt waits for the oldest instruction, see instructions.h */
};

extern const struct arch arch_x86_64, arch_aarch64;
extern const struct arch *const arch_native;

/*
 * Goes from a frame to its caller. frame: how much of the frame there is. size: bytes of the whole
 * frame. False: regs are unchanged.
 */
bool arch_leave(const struct arch *arch, enum arch_frame frame, uint32_t size,
		const struct snapshot *stack, struct unwind_regs *regs);

#endif
