// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process that cannot be recorded as a JVM -> a sentence that says what to do
 * units:   PIDs as the collector sees them, nanoseconds
 * threads: any
 * errors:  none; the text is the answer
 * source:  proc(5)
 */
#ifndef FG_INSPECT_DIAGNOSE_PROCESS_H
#define FG_INSPECT_DIAGNOSE_PROCESS_H

#include "process/process.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define DIAGNOSE_AGENT_LINE "-agentpath:/opt/fgcollect/libfgagent.so"

#define DIAGNOSE_BYTES 1800 /* a line of the log has not much more */

#define DIAGNOSE_YOUNG_NS    UINT64_C(2000000000)  /* a process becomes a JVM until it is so old */
#define DIAGNOSE_STARTING_NS UINT64_C(10000000000) /* and a JVM starts its agent until then */

/*
 * False if no agent can be in that process: it is gone, or libfgagent.so is not mapped in it, and
 * it is not so young that this may change.
 */
bool diagnose_may_connect(pid_t pid);

enum diagnose_seen {
	DIAGNOSE_SEEN_NOTHING, /* it is gone, or not ours to see */
	DIAGNOSE_SEEN_OTHER,   /* no JVM; the text is "" */
	DIAGNOSE_SEEN_JVM,
};

/*
 * What a process is that has no connected agent; the text says what is in the agent's way, and what
 * to do.
 */
enum diagnose_seen diagnose_pid(pid_t pid, const char *socket_path, char ret[DIAGNOSE_BYTES]);

/* The same of a process that is known, which may have connected a moment ago; -EAGAIN. */
int diagnose_process(const struct process *process, const char *socket_path,
		     char ret[DIAGNOSE_BYTES]);

#endif
