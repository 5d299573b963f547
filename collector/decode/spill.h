// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   code from an address on -> how far the stack pointer is below the frame there
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

#endif
