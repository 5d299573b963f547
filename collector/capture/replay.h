// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a capture file -> the stacks of its samples, walked and named anew, in a sink
 * units:   CLOCK_MONOTONIC nanoseconds of the captured host
 * threads: one; during a run the replay answers for the program's clock and its reads of memory
 * errors:  negative errno with a reason; questions that the capture does not answer are counted
 * source:  capture_format.h
 *
 * A replay runs the same stages as a recording, from the walk of the stack on, and asks the capture
 * in the place of the kernel, of processes and of files. So a replay needs no rights, and gives the
 * same stacks each time, on each machine. A later version of the stages may ask a question that the
 * capture does not answer. The answer then is that nothing is there.
 */
#ifndef FG_CAPTURE_REPLAY_H
#define FG_CAPTURE_REPLAY_H

#include "recording/chain.h"
#include "sinks/dump.h"
#include "recording/sample_watch.h"
#include "sinks/sink.h"
#include "profile/profile_info.h"

#include <stdint.h>

struct replay; /* opaque */

/*
 * Reads the file to its end. On an error *ret_reason is a static sentence that says what is wrong.
 */
int replay_open(int fd, struct replay **ret, const char **ret_reason);
/* As replay_open, for a gzip file in memory. */
int replay_open_bytes(const void *data, size_t len, struct replay **ret, const char **ret_reason);
void replay_free(struct replay *replay); /* NULL is legal */

/*
 * The facts of the recording, with borrowed texts. Of the quality only lost and stackless samples
 * are known.
 */
const struct profile_info *replay_info(const struct replay *replay);
uint64_t replay_start_ns(const struct replay *replay);

struct replay_counts {
	uint64_t samples; /* samples that went to the sinks */
	uint64_t steps;
	uint64_t unanswered; /* questions that the capture does not answer */
	uint64_t left_out;   /* samples for which the capture had no room when it was made */
};

/* The stages of a run, for capture_new. */
struct capture_stages;

struct replay_run {
	const struct chain_style *style;
	const struct dump *dump; /* NULL: nothing is dumped */
	struct sink *sinks;	 /* the samples go to these sinks; NULL: no sinks */
	/*
	 * Makes a watch of the run, or leaves *ret_watch NULL; called when the stages are ready.
	 * The watch is used until the end of the run. watch NULL: not called.
	 */
	int (*watch)(void *arg, const struct capture_stages *stages,
		     struct sample_watch **ret_watch);
	/* Called for each named sample. id is the sample's number. NULL: not called. */
	void (*named)(void *arg, uint64_t id, const struct named_sample *sample);
	/* Whether the steps of a sample are done. NULL: the steps of all samples are done. */
	bool (*wants)(void *arg, uint64_t id);
	void *arg;
};

/* Runs the whole capture. May be called again: each run starts from the beginning. */
int replay_run(struct replay *replay, const struct replay_run *run, struct replay_counts *ret);

#endif
