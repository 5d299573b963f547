// SPDX-License-Identifier: Apache-2.0
/*
 * Looks into a process for libjvm, then for the agent, then for the path from the agent to the
 * collector, see diagnose_process.h. The sentence is about the first of the three that is missing.
 */
#include "inspect/diagnose_process.h"

#include "base/process_stat.h"
#include "intake/dial.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void say_mount(char *ret, size_t size, const char *socket_path, pid_t pid)
{
	const char *slash = strrchr(socket_path, '/');
	const int len = slash ? (int)(slash - socket_path) : 1;
	const char *dir = slash ? socket_path : ".";

	snprintf(ret, size,
		 "PID %d has the agent loaded, but it has not connected to %s: let its container "
		 "see the directory (-v %.*s:%.*s:ro) and check the socket= of its -agentpath; an "
		 "agent with delay= connects when the delay is over",
		 (int)pid, socket_path, len, dir, len, dir);
}

/* Whether the process's agent listens. ret then says why the agent was not reached. */
static bool say_listening(char *ret, size_t size, pid_t pid)
{
	char path[BEACON_PATH_BYTES];
	const int err = dial_try(pid, path);

	if (err == -ENODATA)
		return false;
	if (err == 0)
		snprintf(ret, size,
			 "PID %d has the agent loaded, which listens at %s in its container, but "
			 "has not answered yet: ask again in a few seconds; it may be serving "
			 "another collector",
			 (int)pid, path);
	else
		snprintf(
			ret, size,
			"PID %d has the agent loaded, which listens at %s in its container, but it "
			"could not be reached: %s: %s",
			(int)pid, path, dial_reason(err), dial_remedy(err));
	return true;
}

bool diagnose_may_connect(pid_t pid)
{
	const uint64_t age_ns = process_stat_age_ns(pid);
	struct process *process;
	bool may;

	if (process_new(pid, 0, DIAGNOSE_READ_NS, &process) < 0)
		return false;
	may = process->space.count == 0 || process_has_agent(process) /* 0: may not be read */
	      || age_ns < DIAGNOSE_YOUNG_NS ||
	      (process_has_libjvm(process) && age_ns < DIAGNOSE_STARTING_NS);
	process_free(process);
	return may;
}

enum diagnose_seen diagnose_pid(pid_t pid, const char *socket_path, char ret[DIAGNOSE_BYTES])
{
	struct process *process = NULL;
	enum diagnose_seen seen = DIAGNOSE_SEEN_JVM;
	char comm[PROCESS_COMM_BYTES];
	uint64_t ticks;
	int err;

	ret[0] = '\0';
	if (process_stat_start_ticks(pid, &ticks) == -ESRCH) {
		snprintf(ret, DIAGNOSE_BYTES,
			 "PID %d does not exist: 'fgcollect list' shows the JVMs there are, by "
			 "their PIDs on the host",
			 (int)pid);
		return DIAGNOSE_SEEN_NOTHING;
	}
	err = process_new(pid, 0, DIAGNOSE_READ_NS, &process);
	process_stat_comm(pid, pid, comm, sizeof(comm));
	if (err || process->space.count == 0) {
		snprintf(ret, DIAGNOSE_BYTES,
			 "cannot look into PID %d (%s): run as root, or as the user it runs as; a "
			 "kernel thread has nothing to look into: -a records it",
			 (int)pid, comm);
		seen = DIAGNOSE_SEEN_NOTHING;
	} else if (!process_has_libjvm(process)) {
		seen = DIAGNOSE_SEEN_OTHER;
	} else if (!process_has_agent(process)) {
		snprintf(ret, DIAGNOSE_BYTES,
			 "PID %d (%s) is a JVM without the agent: add " DIAGNOSE_AGENT_LINE
			 " to its options (JAVA_TOOL_OPTIONS in an image) and start it again",
			 (int)pid, comm);
	} else if (!say_listening(ret, DIAGNOSE_BYTES, pid)) {
		say_mount(ret, DIAGNOSE_BYTES, socket_path, pid);
	}
	process_free(process);
	return seen;
}

int diagnose_process(const struct process *process, const char *socket_path,
		     char ret[DIAGNOSE_BYTES])
{
	if (!process->jvm || process->jvm->state >= JVM_CURRENT) {
		diagnose_pid(process->pid, socket_path, ret);
		return -EAGAIN;
	}
	snprintf(ret, DIAGNOSE_BYTES,
		 "PID %d: its agent has connected, and still tells what code there is: ask again "
		 "in a few seconds",
		 (int)process->pid);
	return -EAGAIN;
}
