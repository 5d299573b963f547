// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a part of the loop: what wakes it, when it is due, its step, the memory that it holds
 * units:   CLOCK_MONOTONIC nanoseconds, bytes
 * threads: the model's
 * errors:  none: a part counts its own
 * source:  none
 *
 * A turn of the loop is a walk over the table of parts, in the order of their stages. Every part
 * has a step in each turn, whatever has woken the loop, because each leaves what is not due. The
 * loop's memory is what all parts hold.
 *
 * A zero-filled part does nothing. Each function may be NULL.
 */
#ifndef FG_LOOP_PART_H
#define FG_LOOP_PART_H

#include "loop/memory_stats.h"
#include "loop/turns.h"

#include <stdbool.h>
#include <stdint.h>

#define PART_NEVER UINT64_MAX

struct part {
	enum turn_stage stage; /* of a turn, to which the time of the step belongs */
	bool is_owed;	       /* the step is needed at any pace: its time slows nothing (pace.h) */
	/* The descriptor that wakes the loop when it can be read; -1: none now. */
	int (*fd)(const void *arg);
	/* When the step is due at the latest; PART_NEVER: when the loop wakes for another part. */
	uint64_t (*due_ns)(const void *arg);
	void (*ready)(void *arg); /* the descriptor can be read; the step comes after */
	void (*step)(void *arg);
	/* Adds what the part holds to the pools of memory. */
	void (*hold)(const void *arg, struct memory_stats *ret);
	void *arg;
};

#endif
