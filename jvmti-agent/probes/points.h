// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the places in the agent's code at which a tracer can look on, and what tells that one
 *          does
 * units:   bytes, nanoseconds
 * threads: any
 * errors:  none
 * source:  the .note.stapsdt section as SystemTap's wiki describes it; docs/probes.md;
 *          the kernel's uprobe PMU, ref_ctr_offset
 *
 * Each point is an instruction that does nothing, and a note in the file that says where it lies.
 * The kernel counts a point's tracers in a semaphore of this process. The agent reads semaphores
 * and never writes one. A point without a tracer costs 3 ns.
 */
#ifndef FGAGENT_PROBES_POINTS_H
#define FGAGENT_PROBES_POINTS_H

#include <stdbool.h>
#include <stdint.h>

/* The smallest of the sampling intervals that tracers ask for; 0: nobody traces allocations. */
uint32_t points_alloc_interval(void);
/* Whether a tracer wants to be told of sampled objects that have died. */
bool points_deaths_are_traced(void);
bool points_locks_are_traced(void);

#define POINTS_DEAD_OBJECTS 5 /* that one hit has room for */

/*
 * Each runs the points of one event. The class signature lies on the caller's stack, so that it is
 * in a tracer's copy of the stack.
 */
void points_fire_alloc(const char *class_sig, uint64_t size, uint64_t interval, uint64_t object,
		       uint64_t round);
/* 0: no object. */
void points_fire_dead(uint64_t round, const uint64_t objects[POINTS_DEAD_OBJECTS]);
void points_fire_lock_enter(const char *class_sig, uint64_t wait);
void points_fire_lock_entered(const char *class_sig, uint64_t duration_ns, uint64_t wait);

#endif
