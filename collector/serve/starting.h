// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   options of a client -> a recording, over several turns of the loop
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's; a thread opens the sampler
 * errors:  negative errno; sampler_problem is the message. A sentence if nothing can be recorded.
 * source:  none
 *
 * On a host with thousands of processes the search for those that are meant takes tenths of a
 * second, and the kernel takes tens of milliseconds to make perf events and their ring buffers. The
 * loop goes on meanwhile.
 */
#ifndef FG_SERVE_STARTING_H
#define FG_SERVE_STARTING_H

#include "inspect/diagnose.h"
#include "loop/engine.h"
#include "process/survey.h"
#include "serve/young_processes.h"

enum starting_state {
	STARTING_GOES_ON, /* there is more to do */
	/*
	 * The sampler is being opened, and wake_fd is written to at the end of that; or names are
	 * awaited, see targets_await_names.
	 */
	STARTING_SLEEPS,
	STARTING_OPENED,
	STARTING_EXPECTS, /* the same options may mean a process in a moment (young_processes.h) */
	STARTING_REFUSED, /* message says why nothing can be recorded */
	STARTING_FAILED,  /* error is what the sampler says */
};

struct starting {
	struct engine *engine;
	struct recording_options options;
	bool may_expect;	 /* STARTING_EXPECTS is an answer */
	const char *socket_path; /* of the agents' socket; borrowed */
	int wake_fd;
	char message[DIAGNOSE_BYTES]; /* also of what will have no names, or "" */
	int error;
	int client; /* for the caller; starting.h does not use it */
	struct starting *next;
	/* Of starting.c. */
	int phase;
	bool has_expected;
	bool has_looked_again;
	bool asks_names; /* JVMs without an agent are read for their names meanwhile */
	struct survey survey;
	struct young_processes young_processes;
	struct sampler_opening *opening; /* or NULL */
};

/* wake_fd is an eventfd. All that is set in demand but the caller's members is taken from there. */
int starting_begin(const struct starting *demand, struct starting **ret);
/* Goes on until until_ns, with one step at least. */
enum starting_state starting_step(struct starting *starting, uint64_t until_ns);
/*
 * After STARTING_OPENED: starts the recording unless ret is NULL. In all states: frees starting,
 * after a wait for the sampler. Returns 0 if there is nothing to start.
 */
int starting_end(struct starting *starting, struct recording **ret);

#endif
