// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   one process's new code -> its records in the jitdump of all
 * units:   addr in the target, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  none; the jitdump counts what it skips
 * source:  jitdump.h, linux mm/mmap.c (perf_event_mmap in mmap_region)
 *
 * When a JVM's code heap grows, the kernel joins the new mapping to the old and tells perf of all
 * of it, which for perf ends every mapping that was injected there before: all code in that heap
 * would lose its name. So when code lies beyond the mappings that are known, they are read again,
 * and what lies in those that changed is said anew, as of then. That costs perf inject an event for
 * each piece, so there is a pause between two times that grows with what was said.
 *
 * A zero-filled struct is a valid start: nothing is written.
 */
#ifndef FG_MAPS_JITDUMP_TARGET_H
#define FG_MAPS_JITDUMP_TARGET_H

#include "memory/address_space.h"
#include "code/code_map.h"
#include "maps/jitdump.h"

struct jitdump_target {
	struct jitdump *dump; /* borrowed; NULL: nobody wants one */
	uint64_t used_bytes;
	struct address_space known;
	uint64_t outgrown_ns; /* when code was first seen beyond what is known; 0: none was */
	uint64_t next_ns;     /* not read again sooner */
};

/* Forgets the mappings: another program, or the end. */
void jitdump_target_fini(struct jitdump_target *target);

/* What a new range's dump_index is to be. */
uint32_t jitdump_target_number(struct jitdump_target *target);

/* The process has that range since time_ns, which may be later than the range's own birth. */
void jitdump_target_add(struct jitdump_target *target, pid_t pid, const struct code_range *range,
			uint64_t time_ns, uint64_t now_ns);

/* 0, or when jitdump_target_step has something to do. */
uint64_t jitdump_target_due_ns(const struct jitdump_target *target);
void jitdump_target_step(struct jitdump_target *target, pid_t pid, const struct code_map *code,
			 uint64_t now_ns);

#endif
