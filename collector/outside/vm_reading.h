// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a JVM's memory, read again and again -> the records that an agent would have sent
 * units:   CLOCK_MONOTONIC nanoseconds of the JVM's clock; bytes
 * threads: one at a time, any
 * errors:  negative errno, and a text that says what is missing
 * source:  shared/README.md for the records; HotSpot's sources for the rest
 *
 * The first step says hello with the layout of HotSpot's structures; it and those that follow tell
 * of code as a resynchronisation does, until all of it has been told. Later steps tell of code that
 * has come or gone since the step before. A step takes new names of at most VM_READING_NEW blobs;
 * the rest is left for the next step.
 *
 * Nobody tells when code came or went: only that it was between two steps. Code is said to have
 * come, and to have gone, in the middle between them. An address whose code was another one in the
 * step before counts as reused: what ran there meanwhile may have the wrong name.
 */
#ifndef FG_OUTSIDE_VM_READING_H
#define FG_OUTSIDE_VM_READING_H

#include "outside/code_heaps.h"
#include "vm/program_texts.h"
#include "vm/thread_names.h"
#include "vm/vm_memory.h"
#include "vm/vm_tables.h"

#define VM_READING_NEW		512
#define VM_READING_STEP_BYTES	((uint64_t)64 << 20) /* that a step may read */
#define VM_READING_RECORD_BYTES ((size_t)2 << 20)    /* that a step may tell */
#define VM_READING_LACKS_BYTES	160

struct vm_reading; /* opaque */

struct vm_reading_stats {
	uint64_t steps;
	uint64_t bytes, reads; /* of the process's memory; system calls */
	uint64_t named;	       /* blobs that were told of */
	uint64_t unnamed;      /* nmethods whose method could not be read, told without a name */
	uint64_t uninlined;    /* nmethods told without what was inlined, which could not be read */
	uint64_t unlined;      /* methods told without their lines, which had no room */
	uint64_t reused;       /* blobs whose address had other code in the step before */
	uint64_t changed;      /* blobs that changed while they were read, left for the next step */
	uint64_t left_out;     /* blobs past CODE_HEAPS_MAX_BLOCKS, in the last step */
};

/*
 * is_beside: an agent tells of most code, and the reading of the rest. It says no hello and is no
 * resynchronisation: all code that it comes upon is told of as code that has come.
 */
int vm_reading_new(const struct vm_image_mapping *libjvm, bool is_beside, struct vm_reading **ret);
void vm_reading_free(struct vm_reading *reading); /* NULL is legal */

struct vm_reading_now {
	uint64_t time_ns; /* of the JVM's clock */
	uint32_t inner_pid;
	bool only_hello; /* no code is read; for a first step that is the last one */
	const struct program_texts *texts; /* for the hello; NULL: not known */
	const uint32_t *tids; /* of threads whose full names are wanted, by their inner IDs */
	size_t n_tids;	      /* THREAD_NAMES_MAX at most */
	bool only_threads;    /* no code is read, and what was told of it stands */
};

/* Whether there is more to tell at once. */
struct vm_reading_told {
	const uint8_t *records; /* whole records; borrowed until the next step */
	size_t len;
	bool has_more;
	bool has_news; /* code has come or gone */
	/* Where the code heaps lie; 0 of them before they have been read. */
	struct vm_span heaps[CODE_HEAPS_MAX];
	size_t n_heaps;
	/* After an error: what the JVM lacks, or "". */
	char lacks[VM_READING_LACKS_BYTES];
};

/* ret is valid after an error too. After an error the reading can only be freed. */
int vm_reading_step(struct vm_reading *reading, struct vm_memory *memory,
		    const struct vm_reading_now *now, struct vm_reading_told *ret);
void vm_reading_stats(const struct vm_reading *reading, struct vm_reading_stats *ret);
size_t vm_reading_bytes(const struct vm_reading *reading); /* its memory */

#endif
