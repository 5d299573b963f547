// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   why there is nothing to record -> a sentence that says what to do
 * units:   PIDs as the collector sees them
 * threads: any
 * errors:  none; the text is the answer
 * source:  proc(5)
 */
#ifndef FG_APP_DIAGNOSE_H
#define FG_APP_DIAGNOSE_H

#include "app/recording.h"

#include <stddef.h>

#define DIAGNOSE_BYTES 1800 /* a line of the log has not much more */

/* False if no agent can be in that process: it is gone, or libfgagent.so is not mapped in it. */
bool diagnose_may_connect(pid_t pid);

/* What kind of process it is that has no connected agent, and what to do; -EAGAIN. */
int diagnose_pid(pid_t pid, const char *socket_path, char ret[DIAGNOSE_BYTES]);

/*
 * Whether what options ask for can be recorded now, judging by the JVMs known. 0, or -EAGAIN and
 * why not.
 */
int diagnose_targets(const struct recording_options *options, struct targets *targets,
		     const char *socket_path, char ret[DIAGNOSE_BYTES]);

#endif
