// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what is to be recorded -> processes that may become it in a moment, and are waited for
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  none; a process that cannot be looked at is none
 * source:  proc(5)
 *
 * A JVM that has just begun is no target yet: its agent may not have connected, or may listen and
 * not have been found. Which one it will be, its PID, comm, container and pod say at once; its main
 * class and labels, only its agent.
 */
#ifndef FG_SERVE_NEWCOMERS_H
#define FG_SERVE_NEWCOMERS_H

#include "live/engine.h"

#include <stddef.h>

#define NEWCOMERS_MAX 64 /* that are waited for at a time */

/*
 * How many processes options may mean, whose agents are not done telling: those that are connected,
 * those that have just begun (see diagnose_process.h), and those that listen and could not be
 * reached. They are looked into and dialled within the next steps of the engine.
 */
size_t newcomers_expect(struct engine *engine, const struct recording_options *options);

#endif
