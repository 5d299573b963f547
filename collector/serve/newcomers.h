// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   options of a recording -> processes that they may mean in a moment, and that are worth
 *          waiting for
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  none; a process that cannot be read is passed over
 * source:  proc(5)
 *
 * A JVM that has just begun is no target yet: its agent has not connected, or listens and has not
 * been found. Its PID, comm, container and pod are known at once, so options can be compared with
 * them. Its main class and labels are known only from its agent.
 */
#ifndef FG_SERVE_NEWCOMERS_H
#define FG_SERVE_NEWCOMERS_H

#include "live/engine.h"

#include <stddef.h>

#define NEWCOMERS_MAX 64 /* processes that are waited for at a time */

/*
 * Returns how many processes options may mean of which the agent has not told all code: connected
 * ones, ones that have just begun (see diagnose_process.h), and ones that listen and could not be
 * reached. The next steps of the engine look for the agents of these processes and dial them.
 */
size_t newcomers_expect(struct engine *engine, const struct recording_options *options);

#endif
