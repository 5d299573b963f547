// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a sample and the walk of its stack -> a named sample, in all sinks
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  false or a count, as said at each function
 * source:  none
 *
 * The stages behind the walk, which a recording and the replay of a capture have in common.
 */
#ifndef FG_RECORDING_CHAIN_H
#define FG_RECORDING_CHAIN_H

#include "code/java_name.h"
#include "recording/sample_watch.h"
#include "recording/waker_stack.h"
#include "sinks/sink.h"
#include "process/process.h"
#include "sample/record.h"
#include "symbolize/symbolizer.h"
#include "unwind/unwinder.h"

#include <stdbool.h>

/* How stacks are named. */
struct chain_style {
	struct java_name_options names;
	enum demangle_style cxx_names; /* style of C++ and Rust names */
	/* inlined functions of files, and lines, are read from DWARF */
	bool has_native_lines;
	/* the stack of a virtual thread ends where it is mounted on its carrier thread */
	bool cuts_carriers;
	bool by_pid, by_thread; /* the process's label has its PID; the thread has a label */
};

/* A walked sample. */
struct chain_walk {
	const struct record *record;
	struct process *process;	       /* NULL: the process is gone */
	struct process *waker;		       /* of who has ended the wait; NULL: not known */
	const struct waker_stack *waker_stack; /* maybe of another wait; NULL: there is none */
	const struct stack *stack;
};

/*
 * Reads and keeps what the later walk of a sample will need of the process, as far as step says,
 * which is SAMPLE_REMAINDER or SAMPLE_LOOK. Returns how many frames were walked.
 */
uint32_t chain_prepare(enum sample_step step, struct unwinder *unwinder, struct process *process,
		       const struct record *record);

/*
 * Names the stack, puts what a thread waits for on top of it and who has ended the wait on top of
 * that, with the waker's stack upside down above, and puts the label frames of process and thread
 * behind it. The frames of *ret live until the next call. False: tables of files are missing, and
 * the symbolizer would wait.
 */
bool chain_name(const struct chain_style *style, struct symbolizer *symbolizer,
		const struct chain_walk *walk, struct named_sample *ret);

/* Names the stack of a waker, and keeps it. False: as chain_name. */
bool chain_name_waker(const struct chain_style *style, struct symbolizer *symbolizer,
		      const struct chain_walk *walk, struct waker_stack *ret);

/*
 * The time that a thread has run, without samples that say where: a stack of one frame that says
 * so, below the labels. The frames of *ret live until the next call.
 */
void chain_name_unsampled(const struct chain_style *style, struct symbolizer *symbolizer,
			  struct process *process, const struct record *record,
			  struct named_sample *ret);

/* Gives the sample to all sinks of its kind. False: a sink has no memory for the sample. */
bool chain_keep(struct sink *sinks, const struct named_sample *sample);

#endif
