// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process -> what walks before have found out of its JVM
 * units:   addr in the target's address space; bytes
 * threads: one at a time
 * errors:  none
 * source:  none
 *
 * Some of HotSpot's static variables never change once the JVM has started, and all objects of its
 * heap have one layout. So they are read and found once, and not in each walk. Of two processes
 * that collide, the newer one stays, and the other one's facts are found anew. A zero-filled cache
 * is valid.
 */
#ifndef FG_UNWIND_VM_FACTS_H
#define FG_UNWIND_VM_FACTS_H

#include "process/process.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define VM_FACTS_PLACES 64

/* A zero-filled structure is valid: nothing is known. */
struct vm_facts {
	pid_t pid; /* 0: the place is empty */
	uint32_t session;
	uint64_t start_ticks;
	uint64_t mounting_pc; /* ContinuationEntry::_return_pc; 0: not known */
	bool has_narrow;      /* the next two are known */
	uint32_t narrow_shift;
	uint64_t narrow_base;
	uint32_t heap_form;   /* the index that fitted last, see heap_stack.c */
	uint32_t chunk_bytes; /* about as many as the last chunks had; 0: not known */
};

struct vm_facts_cache {
	struct vm_facts places[VM_FACTS_PLACES];
};

/* The facts of the process, for the caller to use and to change. Valid until the next call. */
static inline struct vm_facts *vm_facts_of(struct vm_facts_cache *cache,
					   const struct process *process)
{
	struct vm_facts *const facts = &cache->places[(uint32_t)process->pid % VM_FACTS_PLACES];
	const uint32_t session = process->jvm ? process->jvm->session : 0;

	if (facts->pid != process->pid || facts->start_ticks != process->start_ticks ||
	    facts->session != session)
		*facts = (struct vm_facts){.pid = process->pid,
					   .start_ticks = process->start_ticks,
					   .session = session};
	return facts;
}

#endif
