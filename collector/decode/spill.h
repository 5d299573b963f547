// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   code from an address on -> how far the stack pointer is below the frame there, or below
 *          the return address
 * units:   bytes
 * threads: any
 * errors:  false: that cannot be told
 * source:  HotSpot's barrier stubs of C2 (SaveLiveRegisters, of ZGC, and of G1 since JDK 24)
 *
 * A barrier stub of C2 lies behind its method's code. The stub saves live registers on top of the
 * method's frame, calls the JVM, takes the registers back, and jumps to where the method goes on.
 * At the jump the stack pointer is where the frame's size says. So what the stub takes back between
 * an address and the jump is what the stub had saved. Stubs of x86_64 alone are known.
 */
#ifndef FG_DECODE_SPILL_H
#define FG_DECODE_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPILL_CODE_BYTES 512u  /* bytes of a stub, from the call on, that are decoded */
#define SPILL_MAX_BYTES	 4096u /* 32 registers of 64 bytes, and the other registers */

bool spill_bytes(const uint8_t *code, size_t len, uint32_t *ret);

#define EPILOGUE_CODE_BYTES 32u /* of a function's end, that are decoded */

/* The end of a function: where the return address is, and the caller's frame pointer. */
struct epilogue {
	uint32_t ret_off; /* from the stack pointer */
	int32_t fp_off;	  /* likewise; negative: in its register */
};

/*
 * Whether the code goes straight on to its return, without a call or jump, and what it pops on its
 * way.
 */
bool epilogue_find(const uint8_t *code, size_t len, struct epilogue *ret);

#endif
