// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process that cannot be recorded as a JVM -> a sentence with the remedy
 * units:   PIDs as the collector sees them, nanoseconds
 * threads: any
 * errors:  none beside the answer
 * source:  proc(5)
 */
#ifndef FG_INSPECT_DIAGNOSE_PROCESS_H
#define FG_INSPECT_DIAGNOSE_PROCESS_H

#include "process/process.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define DIAGNOSE_AGENT_LINE "-agentpath:/opt/fgcollect/libfgagent.so"

/* of a Zero VM */
#define DIAGNOSE_ZERO                                                                              \
	"their interpreter is C++ and has no frames of Java, so that no Java method has a name: "  \
	"start the program with -server"

#define DIAGNOSE_BYTES 1800 /* little less than a line of the log */

/* at this age a process has become a JVM, or never will */
#define DIAGNOSE_YOUNG_NS    UINT64_C(2000000000)
#define DIAGNOSE_STARTING_NS UINT64_C(10000000000) /* at this age a JVM has started its agent */
#define DIAGNOSE_READ_NS     UINT64_C(20000000)	   /* of the mappings of a process */

/*
 * Whether the agent is in the process: by the name of its file, and where the file has another one
 * by the name of the agent's thread, which is there from the JVM's start on.
 */
bool diagnose_has_agent(const struct process *process);

/* The agent's thread. It sleeps between two attempts to dial. */
struct diagnose_dialler {
	uint64_t sleeps; /* how often it has gone to sleep */
	bool is_asleep;
};

/* False: the process has no such thread, or it may not be read. */
bool diagnose_read_dialler(pid_t pid, struct diagnose_dialler *ret);

/* Whether the number is that of a thread which is not its process's first one. */
bool diagnose_is_thread(pid_t pid);
/* Says so, and which process is meant. */
void diagnose_say_thread(pid_t tid, char ret[DIAGNOSE_BYTES]);

/*
 * Whether an agent may be in the process or may appear there soon. False: the process is gone, or
 * the agent is not there and the process is too old for that to change. True if the mappings cannot
 * be read.
 */
bool diagnose_may_connect(pid_t pid);

enum diagnose_seen {
	DIAGNOSE_SEEN_NOTHING, /* the process is gone, or may not be read */
	DIAGNOSE_SEEN_LATE,    /* something of it was not told in time: what it is, is not known */
	DIAGNOSE_SEEN_OTHER,   /* no JVM; the text is "" */
	DIAGNOSE_SEEN_JVM,
};

/*
 * Looks into a process without a connected agent, for for_ns at most, such as DIAGNOSE_READ_NS. The
 * text says what stands in the agent's way, and the remedy.
 */
enum diagnose_seen diagnose_pid(pid_t pid, const char *socket_path, uint64_t for_ns,
				char ret[DIAGNOSE_BYTES]);

/* diagnose_pid for a known process, whose agent may have connected meanwhile. Always -EAGAIN. */
int diagnose_process(const struct process *process, const char *socket_path,
		     char ret[DIAGNOSE_BYTES]);

#endif
