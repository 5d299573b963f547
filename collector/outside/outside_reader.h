// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process that maps libjvm -> records as of an agent, step by step, without a wait
 * units:   CLOCK_MONOTONIC nanoseconds; bytes
 * threads: the model's; steps run on helpers' threads (base/guarded.h)
 * errors:  negative errno in struct outside_told
 * source:  outside/vm_reading.h
 *
 * A step may never return, where a page of the process does not come. Then the reader waits for
 * ever, and may be freed nonetheless: what the step uses is freed when the step returns.
 */
#ifndef FG_OUTSIDE_OUTSIDE_READER_H
#define FG_OUTSIDE_OUTSIDE_READER_H

#include "outside/vm_reading.h"

struct outside_reader; /* opaque */

struct outside_told {
	int err;
	struct vm_reading_told told; /* borrowed until the next step or the end of the reader */
	struct vm_reading_stats stats;
	uint64_t took_ns; /* processor time of the step */
	size_t bytes;	  /* memory of the reader */
	bool is_cut;	  /* the program's texts are longer than what is read of them */
};

/* is_beside: as of vm_reading_new. */
int outside_reader_new(pid_t pid, const struct vm_image_mapping *libjvm, bool is_beside,
		       struct outside_reader **ret);
void outside_reader_free(struct outside_reader *reader); /* NULL is legal */

/* Begins a step, unless one is under way. -ENOMEM. */
int outside_reader_start(struct outside_reader *reader, const struct vm_reading_now *now);
bool outside_reader_is_out(const struct outside_reader *reader);
/*
 * Rises as the step goes on. Odd: the step waits, for a helper or for what it reads of the process.
 * A step whose number stays odd and the same may never end. One that has no processor is mostly at
 * an even number.
 */
unsigned long outside_reader_turns(const struct outside_reader *reader);
/* Whether the step has ended. It is then no more under way, and *ret says what it has told. */
bool outside_reader_take(struct outside_reader *reader, struct outside_told *ret);

#endif
