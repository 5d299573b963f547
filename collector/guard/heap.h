// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   memory that was freed -> memory that the kernel has again
 * units:   bytes, CLOCK_MONOTONIC nanoseconds
 * threads: heap_init before other threads are made; struct heap and heap_allocated are the loop's
 * errors:  none
 * source:  mallopt(3), malloc_trim(3), proc(5) statm
 *
 * malloc keeps what is freed between two things that live. After a flood that has ended, the memory
 * would stay the collector's for ever. So large allocations are mappings of their own, and the rest
 * is given back whenever some MiB have been freed, so that each time is short; for a tenth of the
 * time at most. Once a minute memory is also given back that other threads have freed.
 */
#ifndef FG_GUARD_HEAP_H
#define FG_GUARD_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* Zero-filled it is valid. */
struct heap {
	uint64_t freed; /* since the last time that memory was given back */
	uint64_t next_ns, look_ns;
	uint64_t trims, longest_ns;
};

/* Sets how malloc works for this program. */
void heap_init(void);

/* So much was freed. */
void heap_note(struct heap *heap, uint64_t bytes);
/* Gives back what is due. accounted: what is known to be in use. */
void heap_step(struct heap *heap, uint64_t accounted, uint64_t now_ns);

/*
 * What malloc has given to all of this program and has not got back, headers included; 0 where
 * malloc does not say so. malloc walks through all that is free, so an answer may be some seconds
 * old: the walk takes a hundredth of the time at most.
 */
uint64_t heap_allocated(uint64_t now_ns);

/* The resident memory of this program; 0 if it cannot be read. */
uint64_t heap_resident(void);

#endif
