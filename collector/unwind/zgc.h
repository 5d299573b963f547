// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a reference that generational ZGC has not brought up to date -> where its object is now
 * units:   addresses in the target
 * threads: the model's
 * errors:  what cannot be read, or does not fit together, is as if the object had not moved
 * source:  HotSpot's zAddress.hpp, zForwardingTable.hpp, zForwarding.hpp, zForwardingEntry.hpp,
 *          zHash.inline.hpp and vmStructs_z.hpp, of JDK 21 to 25
 *
 * ZGC moves an object and leaves references to the object as they are. Whoever loads a reference
 * sees by its colours that the reference is old, and looks up where the object went. The JVM keeps
 * the tables for that until all references are brought up to date, at the end of the next marking.
 * That may be a minute later. So the look-up can be done from outside, too:
 *
 *   ZHeap -> a table for each generation: 2 MiB of heap -> ZForwarding -> hashed entries,
 *            each the index of an object in its old page, and its new place
 *
 * HotSpot describes all of this but the place of the tables in ZHeap. The tables are found there by
 * their size, which is the size of the table of pages.
 */
#ifndef FG_UNWIND_ZGC_H
#define FG_UNWIND_ZGC_H

#include "process/process.h"

#include <stdbool.h>
#include <stdint.h>

#define ZGC_TABLES 4 /* tables that are used at most; each of two generations has a table */

/* What is known of the heap of one process. zgc_init reads nothing of the heap yet. */
struct zgc {
	const struct process *process;
	uint32_t *reads;    /* counts reads of the process's memory, each a system call */
	uint32_t max_reads; /* once *reads is as large, nothing more is read */
	bool is_read;	    /* the masks have been read */
	bool is_searched;  /* the tables have been searched for; only an old reference needs them */
	uint64_t bad_mask; /* colours of old references; 0: unknown */
	uint64_t offset_mask; /* bits of an address that are the offset in the heap */
	uint64_t granules;
	uint64_t tables[ZGC_TABLES];
	uint32_t n_tables;
};

void zgc_init(struct zgc *zgc, const struct process *process, uint32_t *reads, uint32_t max_reads);

/*
 * Returns the present address of the object that the reference leads to. addr: the reference's
 * address, without colours.
 */
uint64_t zgc_resolve(struct zgc *zgc, uint64_t reference, uint64_t addr);

#endif
