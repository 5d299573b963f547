// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   one process's new code -> its records in the jitdump of all processes
 * units:   addr in the target, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  none; struct jitdump counts code ranges that it skips
 * source:  jitdump.h, linux mm/mmap.c (perf_event_mmap in mmap_region)
 *
 * When a JVM's code heap grows, the kernel joins the new mapping to the old one and tells perf of
 * the whole mapping. For perf this event ends every mapping of injected code within: all code in
 * the code heap would lose its name. So when new code lies beyond the known mappings, the mappings
 * are read again, and all code in a mapping that has changed gets a repeat record with the time of
 * the read. A repeat costs perf inject an event for each code range. So there is a pause between
 * two reads, which grows with the number of repeats.
 *
 * A zero-filled struct jitdump_target is a valid start: nothing is written.
 */
#ifndef FG_MAPS_JITDUMP_TARGET_H
#define FG_MAPS_JITDUMP_TARGET_H

#include "code/code_map.h"
#include "maps/jitdump.h"
#include "memory/address_space.h"

struct jitdump_target {
	struct jitdump *dump; /* borrowed; NULL: no jitdump is written */
	uint64_t used_bytes;  /* bytes of the jitdump for this process */
	struct address_space known;
	uint64_t outgrown_ns; /* when code was first added beyond known; 0: there is no such code */
	uint64_t next_ns;     /* mappings are not read again sooner */
};

/* Forgets the mappings, because the process runs another program or is forgotten. */
void jitdump_target_fini(struct jitdump_target *target);

/* The dump_index for a new range; 0 without a jitdump. */
uint32_t jitdump_target_number(struct jitdump_target *target);

/* Adds a new range with the time time_ns, which may differ from the range's birth. */
void jitdump_target_add(struct jitdump_target *target, pid_t pid, const struct code_range *range,
			uint64_t time_ns, uint64_t now_ns);

/* When jitdump_target_step is due; 0: never. */
uint64_t jitdump_target_due_ns(const struct jitdump_target *target);
void jitdump_target_step(struct jitdump_target *target, pid_t pid, const struct code_map *code,
			 uint64_t now_ns);

#endif
