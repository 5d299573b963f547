// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the address at which a timer stopped compiled code -> whether the time belongs to the
 *          instruction before it
 * units:   addr in the target's address space, bytes
 * threads: the model's
 * errors:  where the code cannot be read, the time belongs to the address; counted
 * source:  the processors' manuals: an interrupt is taken when the oldest instruction has retired
 *
 * A processor lets the instruction at the head of its queue finish before it takes an interrupt, so a
 * sample names the one behind the instruction that was waited for: the one behind an atomic, a
 * division, a load that missed its cache. Where that one begins another inlined method, the time
 * would be that method's. Which instruction was executed before it is mostly the one that lies
 * before it; but not where code is jumped to, as to the head of a loop:
 *
 *   no jump leads there                        the one before it
 *   a jump forward, the head of a loop         the one before it, if it is slow enough to be waited
 *                                              for: of a loop's head an atomic, a division, a fence;
 *                                              else a load as well
 *   the one before it never goes on there      the address itself
 *
 * What is inlined at an instruction HotSpot says by the ends of regions (code/inline_table.h), but
 * its two compilers mean two things. C2 says where the last instruction of a region ends. C1 says
 * where the last one begins, but for a call, of which it says where it returns to; and of arithmetic
 * it says nothing, which belongs to the next region then.
 *
 * The code of a method is read and taken apart once, when a sample first stops near the end of a
 * region; of x86_64 alone.
 */
#ifndef FG_UNWIND_INSTRUCTIONS_H
#define FG_UNWIND_INSTRUCTIONS_H

#include "base/map64.h"
#include "code/code_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define INSTRUCTIONS_MAX_BYTES	  (16u << 20) /* of all methods; past it all are forgotten */
#define INSTRUCTIONS_METHOD_BYTES (1u << 20)  /* a larger one is not read */
#define INSTRUCTIONS_TURN_BYTES	  (1u << 20)  /* that are read within INSTRUCTIONS_TURN_NS */
#define INSTRUCTIONS_TURN_NS	  UINT64_C(100000000)

/* A zero-filled one is valid and empty. */
struct instructions {
	struct map64 methods; /* by the number of a method's inline table */
	size_t bytes;
	uint64_t turn_ns;
	size_t turn_bytes;
	uint64_t unread; /* places whose code could not be read, or not now */
};

void instructions_fini(struct instructions *instructions);

/*
 * For a sample at addr in that compiled code of a process: how many bytes before addr a look into
 * the inline table has to be, so that it finds the instruction that took the time.
 */
uint8_t instructions_back(struct instructions *instructions, pid_t pid,
			  const struct code_range *range, uint64_t addr);

/*
 * Likewise of len bytes of code that are at hand. is_c1: by that compiler; has_end: whether a region
 * ends at an offset. What does not decode and all behind it say nothing.
 */
uint8_t instructions_back_in(const uint8_t *code, size_t len, bool is_c1, size_t offset,
			     bool (*has_end)(void *arg, uint32_t offset), void *arg);

#endif
