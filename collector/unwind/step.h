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

#include <sys/uio.h>

/*
 * Looks into the process's memory that one walk takes, each a system call. A leaf and its barrier
 * take three, a search for a call as many as there are return addresses left over on the stack.
 */
#define STEP_MAX_READS 32

/* Searches through hundreds of the stack's words that one walk makes; hardly a walk needs one. */
#define STEP_MAX_SEARCHES 4

/* Files whose unwind table one walk reads; the next walk reads more. */
#define STEP_MAX_LOADS 16

/* Where a walk is: in the frame that has these registers. */
struct walk_position {
	struct unwind_regs regs;
	bool is_return; /* regs.pc is a return address, not where the frame was interrupted */
};

/* What a walk has spent of what it may. */
struct walk_budget {
	uint32_t reads;	   /* of STEP_MAX_READS */
	uint32_t searches; /* of STEP_MAX_SEARCHES */
};

/* What a walk has noted on its way. */
struct walk_notes {
	uint64_t code_addr;	       /* step_code_at's last question; 0: none yet */
	const struct code_range *code; /* the answer */
	bool is_code_unread;	       /* code could not be looked at */
};

/* A walk, as its steps see it. All pointers are borrowed. */
struct walk {
	const struct process *process;
	uint64_t time_ns; /* of the sample */
	const struct arch *arch;
	struct table_cache *tables;
	struct leaf_cache *leaves;
	const struct file_watch *watch; /* or NULL */
	struct snapshot stack; /* and, once the walk needed it, the stack's remainder behind */
	struct walk_position at;
	struct walk_budget spent;
	struct walk_notes notes;
};

/*
 * Looks into the process's memory, if the walk may do so once more. False unless all bytes were
 * read.
 */
bool step_read(struct walk *walk, const struct iovec *to, const struct iovec *from,
	       unsigned long n);

/* Room for bytes of the target's code: from where the code is entered, and from the pc. */
#define STEP_ENTRY_BYTES 64
#define STEP_AT_BYTES	 24
struct step_code {
	uint8_t entry[STEP_ENTRY_BYTES];
	uint8_t at[STEP_AT_BYTES];
};

/*
 * The bytes of a range's code as they are now: other code may have taken the range's place since
 * the sample. *ret borrows bytes. False where the code could not be read: *ret has offsets alone.
 */
bool step_read_code(struct walk *walk, const struct code_range *range, struct step_code *bytes,
		    struct arch_code *ret);

enum step {
	STEP_DONE,	/* regs are the caller's */
	STEP_INTERRUPT, /* likewise, and pc is where the caller was interrupted */
	STEP_ROOT,	/* there is no caller */
	STEP_END,	/* the snapshot does not hold what the step needs */
	STEP_NO_RULE,	/* nothing says how to leave the frame */
};

/* Leaves a frame of which there is so much, see arch_leave. STEP_END: registers are as before. */
static inline enum step step_leave(struct walk *walk, enum arch_frame frame, uint32_t size)
{
	return arch_leave(walk->arch, frame, size, &walk->stack, &walk->at.regs) ? STEP_DONE
										 : STEP_END;
}

/*
 * The generated code at addr, or NULL. The step out of a frame asks where the frame leads, and the
 * next step asks again: the last answer is kept.
 */
const struct code_range *step_code_at(struct walk *walk, uint64_t addr);
/* Whether there is code in front of a return address, generated or a file's. */
bool step_is_code(const struct walk *walk, uint64_t return_addr);

/* A frame of HotSpot's generated code. entry is told an interpreted frame's Method and bytecode. */
enum step step_hotspot(struct walk *walk, const struct code_range *range,
		       struct stack_entry *entry);
/*
 * The return barrier of a virtual thread: the address of a stub, in the place of a return address.
 * The frames that would be returned to lie in the heap (heap_stack.h). The stack goes on with the
 * carrier's frame that mounted the thread, and the step leads there.
 */
bool step_is_barrier(const struct code_range *range, uint64_t pc);
enum step step_barrier(struct walk *walk);
/* A frame of code that a process told of itself, see maps/foreign_map.h. */
enum step step_foreign(struct walk *walk, const struct code_range *range);
/* A frame of a file's code. */
enum step step_native(struct walk *walk, const struct mapping *mapping);
/* A frame of which nothing is known but that it may keep a frame pointer. */
enum step step_by_fp(struct walk *walk);

#endif
