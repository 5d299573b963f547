// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a frame's registers and its code -> its caller's registers
 * units:   addr in the target's address space, CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  enum step
 * source:  elf/cfi_table.h; HotSpot's frame.hpp
 *
 * A walk visits the frames of a stack from the leaf on. A step leaves one frame for its caller. The
 * kind of the frame's code decides which step that is: a file's code has unwind tables, generated
 * code has a code range (code/code_map.h), and other code at most a frame pointer. A step has
 * checked what it reads. What a step returns has not been checked: the walk does that (unwinder.c).
 */
#ifndef FG_UNWIND_STEP_H
#define FG_UNWIND_STEP_H

#include "files/cfi_cache.h"
#include "files/file_watch.h"
#include "process/process.h"
#include "unwind/arch.h"
#include "unwind/leaf_cache.h"
#include "unwind/stack.h"
#include "unwind/vm_facts.h"

#include <sys/uio.h>

/*
 * Limit of a walk's reads of the process's memory, each a system call. A leaf and its barrier take
 * three reads. A search for a call takes a read for each old return address on the stack.
 */
#define STEP_MAX_READS 32

/*
 * Limit of a walk's reads of frames in the heap. A chunk of a virtual thread's stack takes two or
 * three reads, and with ZGC as many again for each reference that has to be looked up.
 */
#define STEP_MAX_HEAP_READS 128

/*
 * Limit of a walk's searches through hundreds of the stack's words. Hardly any walk needs a search.
 */
#define STEP_MAX_SEARCHES 4

/*
 * Limit of the barriers of a walk. A stack has one barrier for each continuation that is mounted,
 * and that is the virtual thread's alone, if any.
 */
#define STEP_MAX_BARRIERS 4

/* Files whose unwind tables one walk reads. The next walk reads more. */
#define STEP_MAX_LOADS 16

/* The frame that a walk is in, by the frame's registers. */
struct walk_position {
	struct unwind_regs regs;
	bool is_return;	     /* regs.pc is a return address, not where the frame was interrupted */
	bool is_behind;	     /* regs.pc is behind the system call or breakpoint that is meant */
	bool is_called_file; /* the frame before, if any, was of a file's code */
};

/* What a walk has used of its limits. */
struct walk_budget {
	uint32_t reads;	     /* at most STEP_MAX_READS */
	uint32_t heap_reads; /* at most STEP_MAX_HEAP_READS */
	uint32_t searches;   /* at most STEP_MAX_SEARCHES */
	uint32_t barriers;   /* at most STEP_MAX_BARRIERS */
};

/* What a walk keeps from step to step. */
struct walk_notes {
	uint64_t code_addr;	       /* last address given to step_code_at; 0: none yet */
	const struct code_range *code; /* what step_code_at returned for code_addr */
	bool is_code_unread;	       /* some code could not be read */
	bool is_left_by_fp;	       /* some code of a JVM, without a known frame size */
};

/* A walk, as its steps see it. All pointers are borrowed. */
struct walk {
	const struct process *process;
	uint64_t time_ns; /* time of the sample */
	const struct arch *arch;
	struct table_cache *tables;
	struct leaf_cache *leaves;
	struct call_cache *calls;
	struct vm_facts *facts;
	const struct file_watch *watch; /* or NULL */
	bool is_in_kernel;		/* the sample was taken there */
	struct snapshot stack; /* the snapshot, and the stack remainder once the walk needed it */
	struct walk_position at;
	struct walk_budget spent;
	struct walk_notes notes;
};

/* Reads the process's memory, if the walk may read once more. False unless all bytes were read. */
bool step_read(struct walk *walk, const struct iovec *to, const struct iovec *from,
	       unsigned long n);

/* Room for bytes of the target's code: from the code's entry on, and around the pc. */
#define STEP_ENTRY_BYTES 64
#define STEP_AT_BYTES	 24
struct step_code {
	uint8_t entry[STEP_ENTRY_BYTES];
	uint8_t around[LEFT_FRAME_BEFORE_BYTES + STEP_AT_BYTES];
};

/*
 * Reads the bytes of a range's code as they are now. Other code may have taken the range's place
 * since the sample. *ret borrows bytes. False: the code could not be read, and *ret has only
 * offsets.
 */
bool step_read_code(struct walk *walk, const struct code_range *range, struct step_code *bytes,
		    struct arch_code *ret);

enum step {
	STEP_DONE,	/* the registers are the caller's */
	STEP_INTERRUPT, /* the registers are the caller's; pc is where the caller was interrupted */
	STEP_ROOT,	/* there is no caller */
	STEP_END,	/* the snapshot does not hold what the step needs */
	STEP_NO_RULE,	/* nothing says how to leave the frame */
};

/* Leaves a frame, see arch_leave. STEP_END: the registers are unchanged. */
static inline enum step step_leave(struct walk *walk, enum arch_frame frame, uint32_t size)
{
	return arch_leave(walk->arch, frame, size, &walk->stack, &walk->at.regs) ? STEP_DONE
										 : STEP_END;
}

/*
 * The generated code at addr, or NULL. The step out of a frame asks where the frame leads, and the
 * next step asks for the same address. So the last answer is kept.
 */
const struct code_range *step_code_at(struct walk *walk, uint64_t addr);
/* Whether there is code in front of a return address, generated or a file's. */
bool step_is_code(const struct walk *walk, uint64_t return_addr);
/*
 * Whether there is a call in front of a return address. Where the bytes cannot be read, there is
 * one if there is code.
 */
bool step_is_behind_call(struct walk *walk, uint64_t return_addr);
/* Whether that call is one of the target. False where the bytes cannot be read. */
bool step_is_behind_call_of(struct walk *walk, uint64_t return_addr,
			    const struct arch_target *target);

/*
 * Whether the frame was interrupted in a system call. False where the bytes cannot be read. The
 * code behind a system call that does not return may be another function's.
 */
bool step_is_in_syscall(struct walk *walk);

/*
 * Whether there is a breakpoint in front of the sampled pc, and the sample was taken in the kernel.
 * It may be one that the kernel has put in the place of an instruction's first byte, for a probe:
 * the instruction has not been executed then. False where the byte cannot be read.
 */
bool step_is_behind_breakpoint(struct walk *walk);
/* Whether it is such a probe's, in a file's code: the frame stands at the instruction. */
bool step_is_at_breakpoint(struct walk *walk);

/* An address in the instruction where the frame is: the call's last byte, or where regs.pc is. */
static inline uint64_t step_probe(const struct walk *walk)
{
	return walk->at.regs.pc - (walk->at.is_return || walk->at.is_behind ? 1 : 0);
}

/*
 * Leaves a frame of HotSpot's generated code. entry gets an interpreted frame's Method and
 * bytecode.
 */
enum step step_hotspot(struct walk *walk, const struct code_range *range,
		       struct stack_entry *entry);
/*
 * The return barrier of a virtual thread: the address of a stub, in the place of a return address.
 * The frames that would be returned to lie in the heap (heap_stack.h). The stack goes on with the
 * carrier's frame that mounted the thread, and step_barrier leads to that frame.
 */
bool step_is_barrier(const struct code_range *range, uint64_t pc);
enum step step_barrier(struct walk *walk);
/* Leaves a frame of code that the process itself reported, see foreign/foreign_map.h. */
enum step step_foreign(struct walk *walk, const struct code_range *range);
/* Leaves a frame of a file's code. */
enum step step_native(struct walk *walk, const struct mapping *mapping);
/*
 * Leaves the kernel's code that probe points call: it pushes three registers, calls the kernel, and
 * pops them. The caller is where a word on top of the stack lies behind a call of this very code.
 */
enum step step_probe_trampoline(struct walk *walk, const struct mapping *mapping);
/* Leaves a frame of unknown code by the frame pointer, which the frame may keep. */
enum step step_by_fp(struct walk *walk);

#endif
