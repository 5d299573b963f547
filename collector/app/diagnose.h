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

#define DIAGNOSE_YOUNG_NS    UINT64_C(2000000000)  /* a process becomes a JVM until it is so old */
#define DIAGNOSE_STARTING_NS UINT64_C(10000000000) /* and a JVM starts its agent until then */

/*
 * False if no agent can be in that process: it is gone, or libfgagent.so is not mapped in it, and
 * it is not so young that this may change.
 */
bool diagnose_may_connect(pid_t pid);

/* What is in the way of a JVM's agent, and what to do; -EAGAIN. */
int diagnose_pid(pid_t pid, const char *socket_path, char ret[DIAGNOSE_BYTES]);

/* The same of one that is known, which may have connected a moment ago. */
int diagnose_process(const struct process *process, const char *socket_path,
		     char ret[DIAGNOSE_BYTES]);

/*
 * Whether what options ask for can be recorded now, judging by the JVMs known. 0 and what will be
 * missing, which is "" most of the time; or -EAGAIN and why not. ret NULL: only whether, without a
 * look at anything else; then -ENOTUNIQ if it is a name that several fit, or another negative
 * number.
 */
int diagnose_targets(const struct recording_options *options, struct targets *targets,
		     const char *socket_path, char ret[DIAGNOSE_BYTES]);

#endif
