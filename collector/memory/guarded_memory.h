// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   reads of processes' memory -> the bytes in time, or an error
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's; the reads are made by helpers (base/helpers.h)
 * errors:  -ETIMEDOUT: the memory has not answered, or its process has to wait; those of
 *          process_memory.h
 * source:  process_vm_readv(2), userfaultfd(2)
 *
 * A page of a process may be one that never comes: a file system that does not answer holds the
 * page, or userfaultfd(2) does. Whoever reads the page waits for ever, and no signal ends the wait.
 * So a helper reads, and is abandoned after GUARDED_MEMORY_WAIT_NS.
 *
 * A process whose memory has not answered is not read while its helper waits, and for a pause
 * afterwards, which doubles with each time. So a process costs the caller 10 ms a pause, and one
 * helper. An owner of processes, a container or a user, has at most GUARDED_MEMORY_OWNER_LATE
 * helpers waiting; then none of the owner's processes is read. So no owner takes all helpers.
 */
#ifndef FG_MEMORY_GUARDED_MEMORY_H
#define FG_MEMORY_GUARDED_MEMORY_H

#include "base/helpers.h"
#include "memory/process_memory.h"

#define GUARDED_MEMORY_WAIT_NS	  UINT64_C(10000000)
#define GUARDED_MEMORY_MAX_LATE	  32
#define GUARDED_MEMORY_OWNER_LATE 4
#define GUARDED_MEMORY_PAUSE_NS	  UINT64_C(100000000) /* the first pause */
#define GUARDED_MEMORY_DOUBLINGS  9

struct guarded_memory; /* opaque */

struct guarded_memory_stats {
	size_t late;	       /* reads that do not answer now */
	uint64_t late_reads;   /* reads that have not answered in time */
	uint64_t paused_reads; /* reads of processes and owners that have to wait */
};

/* owner: a number for the container or user that the process belongs to. */
int guarded_memory_new(uint64_t (*owner)(void *arg, pid_t pid), void *arg,
		       struct guarded_memory **ret);
void guarded_memory_free(struct guarded_memory *guarded); /* NULL is legal */

/* For process_memory_use; borrowed until guarded_memory_free. */
const struct process_memory_source *guarded_memory_source(const struct guarded_memory *guarded);
void guarded_memory_stats(const struct guarded_memory *guarded, struct guarded_memory_stats *ret);

#endif
