// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what goes from stage to stage -> one line each
 * units:   CLOCK_MONOTONIC seconds; addresses in hexadecimal
 * threads: the model's
 * errors:  what cannot be written is missing; with a queue it is counted
 * source:  none
 *
 * For whoever works on a stage: --dump. A line begins with its word, the time and the process.
 * Texts are from outside; what would harm a terminal is '?'.
 *
 *   event   pid     what an agent has sent, as the intake takes it
 *   record  pid/tid what a sampler has read, before the hold
 *   stack   pid/tid addresses of a sample, leaf first, and how the walk ended
 *   frames  pid/tid the same with names, root first, as in folded stacks
 */
#ifndef FG_SINKS_DUMP_H
#define FG_SINKS_DUMP_H

#include "intake/intake.h"
#include "sample/record.h"
#include "sinks/dump_queue.h"
#include "sinks/sink.h"

#include <stdio.h>

enum dump_kind {
	DUMP_EVENTS = 1,
	DUMP_RECORDS = 2,
	DUMP_STACKS = 4,
	DUMP_FRAMES = 8,
};

struct dump {
	unsigned kinds;		  /* enum dump_kind; 0: nothing is dumped */
	FILE *stream;		  /* borrowed */
	struct dump_queue *queue; /* borrowed; lines go there, or if it is NULL to the stream */
};

/* dump NULL is legal: nothing is dumped. */
void dump_event(const struct dump *dump, const struct intake_event *event);
void dump_record(const struct dump *dump, const struct record *record);
/* The stack and the frames of a named sample. */
void dump_sample(const struct dump *dump, const struct named_sample *sample);

#endif
