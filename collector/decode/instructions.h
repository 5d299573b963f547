// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the address at which a timer stopped compiled code -> whether the time belongs to the
 *          instruction before it
 * units:   addr in the target's address space, bytes
 * threads: the model's
 * errors:  where the code cannot be read, the time belongs to the address; counted
 * source:  the processors' manuals: an interrupt is taken when the oldest instruction has retired
 *
 * A sample names the instruction behind the one that took the time. A processor takes an interrupt
 * when the oldest instruction has retired. Often that instruction had to be waited for: an atomic,
 * a division, a load that missed its cache. Where another inlined method begins right behind it,
 * the sample's address would give the time to that method.
 *
 * The instruction executed before the sample's address mostly lies in front of the address. A jump
 * may lead to the address instead, as to the head of a loop.
 *
 *   no jump leads to the address          the instruction in front of it
 *   a jump forward leads there            the instruction in front, if it may be waited for: an
 *                                         atomic, a division, a fence, a load
 *   the address is the head of a loop     the instruction in front, if it is an atomic, a division
 *                                         or a fence
 *   the instruction in front never        the address itself
 *   goes on to the address
 *
 * HotSpot says what is inlined at an instruction by the ends of regions (code/inline_table.h). Its
 * two compilers mean two things by an end. C2 says where the last instruction of a region ends. C1
 * says where the last instruction of a region begins, and of a call where the call returns to. Of
 * arithmetic C1 says nothing; arithmetic belongs to the next region then.
 *
 * A method's code is read and decoded once, when a sample first stops near the end of a region.
 * Code of x86_64 alone is decoded.
 */
#ifndef FG_DECODE_INSTRUCTIONS_H
#define FG_DECODE_INSTRUCTIONS_H

#include "base/map64.h"
#include "code/code_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define INSTRUCTIONS_MAX_BYTES	  (16u << 20) /* limit of all methods; above it all are dropped */
#define INSTRUCTIONS_METHOD_BYTES (1u << 20)  /* a larger method is not read */
#define INSTRUCTIONS_TURN_BYTES	  (1u << 20)  /* bytes read at most within INSTRUCTIONS_TURN_NS */
#define INSTRUCTIONS_TURN_NS	  UINT64_C(100000000)

/* A zero-filled struct is valid and empty. */
struct instructions {
	struct map64 methods; /* key: the number of a method's inline table */
	size_t bytes;
	uint64_t turn_ns;
	size_t turn_bytes;
	uint64_t unread; /* sampled places whose code could not be read, or not at that time */
};

void instructions_fini(struct instructions *instructions);

/*
 * The distance in bytes from addr, a sampled address in the compiled code range, back to the
 * address that is looked up in the inline table. The instruction that took the time is found there.
 */
uint8_t instructions_back(struct instructions *instructions, pid_t pid,
			  const struct code_range *range, uint64_t addr);

/*
 * As instructions_back, for len bytes of code in memory. is_c1: C1 made the code. has_end: whether
 * a region ends at an offset. From the first bytes that do not decode on, the distance is 0.
 */
uint8_t instructions_back_in(const uint8_t *code, size_t len, bool is_c1, size_t offset,
			     bool (*has_end)(void *arg, uint32_t offset), void *arg);

#endif
