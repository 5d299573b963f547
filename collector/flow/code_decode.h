// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes of code -> what each instruction does to the stack and where it leads
 * units:   offsets from an address that the caller chooses, bytes
 * threads: values
 * errors:  -ENOMEM; a byte that begins no instruction is left out
 * source:  the processor's manual; decoded by Zydis
 *
 * One pass over the bytes. Of an instruction is kept what it does to the stack pointer and to the
 * frame pointer, and where the processor goes on. Only code of x86_64 is decoded. A zero-filled
 * struct code_steps is valid and empty.
 */
#ifndef FG_FLOW_CODE_DECODE_H
#define FG_FLOW_CODE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_FAR_BYTES (1 << 26) /* no frame is larger, and no value is farther from 0 */

/* What an instruction does; value is that of struct code_step. */
enum code_effect {
	CODE_NOTHING,
	CODE_MOVE_SP, /* sp += value */
	CODE_PUSH_FP,
	CODE_POP_FP,
	CODE_STORE_FP, /* *(sp + value) = fp */
	CODE_LOAD_FP,  /* fp = *(sp + value) */
	CODE_SET_FP,   /* fp = sp + value */
	CODE_SET_SP,   /* sp = fp + value */
	CODE_LEAVE,
	CODE_CLEAR_FP, /* fp = 0 */
	CODE_LOSE_SP,  /* sp becomes something else */
	CODE_LOSE_FP,
};

enum code_flow {
	CODE_NEXT,
	CODE_CALL,   /* comes back, unless the function called never returns */
	CODE_BRANCH, /* goes to the target, or on */
	CODE_JUMP,
	CODE_LEAP, /* a jump by a word of memory at a fixed address, as in a PLT */
	CODE_RETURN,
	CODE_STOP, /* goes on nowhere, or nobody knows where */
};

#define CODE_NO_TARGET UINT32_MAX

struct code_step {
	uint32_t offset;
	uint32_t target; /* index of the instruction jumped to, or CODE_NO_TARGET */
	int32_t value;
	uint8_t len;
	uint8_t effect, flow;
	uint8_t is_sigreturn : 1; /* a signal's handler returns here; with the one behind it */
	uint8_t is_system_call : 1;
	uint8_t is_padding : 1; /* does nothing, as between functions */
	uint8_t is_entry : 1;	/* a function begins here: it is called, or its address is taken */
};

struct code_steps {
	struct code_step *items; /* by rising offset */
	size_t count, size;
};

/* Adds the instructions of len bytes at offset, which lie behind those that were added before. */
int code_steps_add(struct code_steps *steps, const uint8_t *code, size_t len, uint32_t offset);
/* Finds all targets. Nothing may be added afterwards. */
void code_steps_link(struct code_steps *steps);
void code_steps_fini(struct code_steps *steps);

/* The index of the instruction that begins at offset, or CODE_NO_TARGET. */
uint32_t code_steps_find(const struct code_steps *steps, uint32_t offset);
/* Whether the instruction before the one at index i ends where that one begins. */
bool code_steps_are_joined(const struct code_steps *steps, size_t i);
/* Whether the processor may come from the instruction before the one at index i. */
bool code_steps_go_on(const struct code_steps *steps, size_t i);
/* Whether the function before the instruction at index i has ended, as far as is seen. */
bool code_steps_is_behind_end(const struct code_steps *steps, size_t i);

#endif
