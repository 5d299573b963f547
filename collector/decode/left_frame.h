// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   code in front of an address -> where the return address is, if the code there has taken
 *          its frame down
 * units:   bytes; registers by their DWARF numbers
 * threads: any
 * errors:  false: the code in front has not taken a frame down, or does what is not known
 * source:  HotSpot's MacroAssembler::reserved_stack_check, remove_activation, remove_frame
 *
 * Behind the instructions that take a frame down, HotSpot's code goes on without a frame:
 *
 *   compiled code      asks whether the stack's reserved zone has to be guarded again, and calls
 *                      the VM if so; asks for a safepoint; or jumps away with an exception
 *   interpreted code   pops the return address into a register, moves the stack pointer to the
 *                      sender's, and jumps; or asks the VM for the handler of an exception
 *
 * The instructions from there to the address are followed. Where they jump forward, the state of
 * the jump is the state of its target. Code of x86_64 alone is known.
 */
#ifndef FG_DECODE_LEFT_FRAME_H
#define FG_DECODE_LEFT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEFT_FRAME_BEFORE_BYTES 128 /* the longest way from the frame's end that is followed */

/* Code around an address, which is code + at. */
struct left_frame_code {
	const uint8_t *bytes;
	size_t at;  /* bytes in front of the address */
	size_t len; /* all bytes */
};

struct left_frame {
	bool is_in_reg;	   /* the return address is in ret_reg, else on the stack at sp + ret_off */
	bool is_sp_in_reg; /* the caller's stack pointer is in sp_reg, else it is sp + sp_off */
	uint8_t ret_reg, sp_reg;
	int16_t ret_off, sp_off;
};

/* Behind add rsp, size - 16; pop rbp, for a frame of so many bytes. */
bool left_frame_compiled(const struct left_frame_code *code, uint32_t size, struct left_frame *ret);

/* Behind leave. */
bool left_frame_interpreted(const struct left_frame_code *code, struct left_frame *ret);

#endif
