// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   options of a recording -> processes that they may mean in a moment, and that are worth
 *          waiting for
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  a process that cannot be read is passed over
 * source:  proc(5)
 *
 * A JVM that has just begun is no target yet: its agent has not connected, or listens and has not
 * been found. Its PID, comm, container and pod are known at once, so options can be compared with
 * them. Its main class and labels are known only from its agent.
 */
#ifndef FG_SERVE_YOUNG_PROCESSES_H
#define FG_SERVE_YOUNG_PROCESSES_H

#include "loop/engine.h"

#include <dirent.h>
#include <stddef.h>

#define YOUNG_PROCESSES_MAX 64 /* processes that are waited for at a time */

/* A search over several turns of the loop. A zero-filled struct is none. */
struct young_processes {
	struct engine *engine;
	struct selections selections; /* without the parts that need an agent */
	bool takes_any;		      /* also processes that may turn out to be JVMs later */
	bool takes_old;		      /* also JVMs of any age whose agent has not connected */
	struct map64 *dials;	      /* of dial_wait.c, borrowed; or NULL */
	pid_t pids[1 + RECORDING_MORE_PIDS]; /* the only ones that are meant */
	size_t n_pids;
	DIR *dir;
	size_t count; /* of processes that are worth waiting for */
};

/*
 * Looks for the processes that options may mean of which the agent has not told all code: connected
 * ones, ones that have just begun (see diagnose_process.h), and ones that listen and could not be
 * reached. The next steps of the engine look for the agents of these processes and dial them.
 * Errors: those of selections_init; there is nothing to end then.
 */
int young_processes_begin(struct young_processes *search, struct engine *engine,
			  const struct recording_options *options);
/*
 * As young_processes_begin, for a collector that has just begun itself: agents of old JVMs have not
 * dialled yet either.
 */
int young_processes_begin_all(struct young_processes *search, struct engine *engine,
			      const struct recording_options *options);
/* Goes on until until_ns, with one process at least. Returns whether the search is at its end. */
bool young_processes_step(struct young_processes *search, uint64_t until_ns);
void young_processes_end(struct young_processes *search);

#endif
