// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the snapshot that a sample carries: the kernel's copy of a thread's user stack
 * units:   addr in the target's address space, bytes
 * threads: a value; the bytes are borrowed
 * errors:  false for what the snapshot does not hold
 * source:  PERF_SAMPLE_STACK_USER of perf_event_open(2)
 *
 * A snapshot begins at the stack pointer and goes on towards the stack's root. Its end is where the
 * kernel was asked to stop, or where the stack's memory ends or has never been written to. The
 * bytes are the target's and may be anything. A page that was not in memory is a hole: what it had
 * is not known, and a walk that needs nothing of it goes on behind it.
 */
#ifndef FG_UNWIND_SNAPSHOT_H
#define FG_UNWIND_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WORD_BYTES	    8
#define SNAPSHOT_PAGE_BYTES 4096u
#define SNAPSHOT_PAGES	    64u /* that can be holes */

struct snapshot {
	uint64_t addr; /* address of the first byte: the sampled stack pointer */
	const uint8_t *bytes;
	size_t len;
	uint64_t holes; /* bit i: the page i pages above that of addr is a hole */
};

static inline bool snapshot_is_hole(const struct snapshot *snapshot, uint64_t addr)
{
	const uint64_t page = addr / SNAPSHOT_PAGE_BYTES - snapshot->addr / SNAPSHOT_PAGE_BYTES;

	return page < SNAPSHOT_PAGES && snapshot->holes >> page & 1;
}

/* Reads the word at addr, which need not be aligned. */
static inline bool snapshot_read(const struct snapshot *snapshot, uint64_t addr, uint64_t *ret)
{
	const uint64_t offset = addr - snapshot->addr;

	if (addr < snapshot->addr || snapshot->len < WORD_BYTES ||
	    offset > snapshot->len - WORD_BYTES)
		return false;
	if (snapshot->holes &&
	    (snapshot_is_hole(snapshot, addr) || snapshot_is_hole(snapshot, addr + WORD_BYTES - 1)))
		return false;
	memcpy(ret, snapshot->bytes + offset, WORD_BYTES);
	return true;
}

#endif
