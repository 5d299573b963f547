// SPDX-License-Identifier: Apache-2.0
/*
 * Looks into a process for libjvm, then for the agent, then for the path from the agent to the
 * collector, see diagnose_process.h. The sentence is about the first of the three that is missing.
 */
#include "inspect/diagnose_process.h"

#include "base/cleanup.h"
#include "base/process_stat.h"
#include "intake/dial.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AGENT_FILE   "libfgagent.so"
#define AGENT_THREAD "fgagent" /* what the agent calls its thread */
#define STATUS_BYTES 8192
#define LOOKED_AT    4096 /* threads, among which the agent's is one of the first */

/* The agent's thread, or 0. */
static pid_t find_agent_thread(pid_t pid)
{
	char path[64], comm[PROCESS_COMM_BYTES];
	const struct dirent *entry;
	pid_t found = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	_cleanup_closedir_ DIR *dir = opendir(path);

	for (int i = 0; !found && i < LOOKED_AT && dir && (entry = readdir(dir)); i++) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		process_stat_comm(pid, tid, comm, sizeof(comm));
		found = strcmp(comm, AGENT_THREAD) == 0 ? tid : 0;
	}
	return found;
}

bool diagnose_read_dialler(pid_t pid, struct diagnose_dialler *ret)
{
	const pid_t tid = find_agent_thread(pid);
	char path[64], text[STATUS_BYTES];
	const char *state, *sleeps;
	ssize_t n;

	if (tid == 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	_cleanup_close_ const int fd = open(path, O_RDONLY | O_CLOEXEC);

	n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (n <= 0)
		return false;
	text[n] = '\0';
	state = strstr(text, "\nState:");
	sleeps = strstr(text, "\nvoluntary_ctxt_switches:");
	if (!state || !sleeps)
		return false;
	ret->is_asleep = strncmp(state, "\nState:\tS", 9) == 0;
	ret->sleeps = strtoull(strchr(sleeps, ':') + 1, NULL, 10);
	return true;
}

/*
 * A process that was forked and began no program has the file of the one that it is a copy of, and
 * none of its threads but one.
 */
bool diagnose_has_agent(const struct process *process)
{
	if (process_stat_is_forked(process->pid))
		return find_agent_thread(process->pid) != 0;
	return process_has_file(process, AGENT_FILE) || find_agent_thread(process->pid) != 0;
}

/* Why the agent does not connect cannot be seen from here. What can be checked is said. */
static void say_unconnected(char *ret, size_t size, const char *socket_path, pid_t pid)
{
	const char *slash = strrchr(socket_path, '/');
	const int len = slash ? (int)(slash - socket_path) : 1;
	const char *dir = slash ? socket_path : ".";

	snprintf(ret, size,
		 "PID %d has the agent loaded, which has not connected to %s so far: an agent "
		 "dials once a second, later on a busy host, and one with delay= when the delay is "
		 "over: ask again; if that does not help, 'fgcollect doctor' looks whether its "
		 "container sees the directory (-v %.*s:%.*s:ro) and the socket that it dials",
		 (int)pid, socket_path, len, dir, len, dir);
}

/* Whether the process's agent listens. ret then says why the agent was not reached. */
static bool say_listening(char *ret, size_t size, pid_t pid)
{
	char path[ANNOUNCEMENT_PATH_BYTES];
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

bool diagnose_is_thread(pid_t pid)
{
	const pid_t owner = process_stat_pid_of(pid);

	return owner > 0 && owner != pid;
}

void diagnose_say_thread(pid_t tid, char ret[DIAGNOSE_BYTES])
{
	const pid_t pid = process_stat_pid_of(tid);

	snprintf(ret, DIAGNOSE_BYTES,
		 "%d is no process, but a thread of PID %d: use -p %d; --threads tells its threads "
		 "apart",
		 (int)tid, (int)pid, (int)pid);
}

bool diagnose_may_connect(pid_t pid)
{
	const uint64_t age_ns = process_stat_age_ns(pid);
	struct process *process;
	bool may;
	int err;

	if (diagnose_is_thread(pid))
		return false;
	err = process_new(pid, 0, DIAGNOSE_READ_NS, &process);
	if (err)
		return err !=
		       -ESRCH; /* on a busy host, who does not answer in time is no less there */
	may = process->space.count == 0 /* may not be read */ || age_ns < DIAGNOSE_YOUNG_NS ||
	      (process_has_libjvm(process) && age_ns < DIAGNOSE_STARTING_NS) ||
	      diagnose_has_agent(process);
	process_free(process);
	return may;
}

static void say_gone(char ret[DIAGNOSE_BYTES], pid_t pid)
{
	snprintf(ret, DIAGNOSE_BYTES,
		 "PID %d does not exist: 'fgcollect list' shows the JVMs there are, by their PIDs "
		 "on "
		 "the host",
		 (int)pid);
}

/* Whether the reading of the mappings is not at its end, or was given up for want of an answer. */
static bool is_late(const struct process *process)
{
	return process->reader || process->space_due_ns;
}

enum diagnose_seen diagnose_pid(pid_t pid, const char *socket_path, uint64_t for_ns,
				char ret[DIAGNOSE_BYTES])
{
	struct process *process = NULL;
	enum diagnose_seen seen = DIAGNOSE_SEEN_JVM;
	char comm[PROCESS_COMM_BYTES];
	uint64_t ticks;
	int err;

	ret[0] = '\0';
	if (process_stat_start_ticks(pid, &ticks) == -ESRCH) {
		say_gone(ret, pid);
		return DIAGNOSE_SEEN_NOTHING;
	}
	if (diagnose_is_thread(pid)) {
		diagnose_say_thread(pid, ret);
		return DIAGNOSE_SEEN_NOTHING;
	}
	err = process_new(pid, 0, for_ns, &process);
	process_stat_comm(pid, pid, comm, sizeof(comm));
	if (err == -ESRCH) {
		say_gone(ret, pid);
		seen = DIAGNOSE_SEEN_NOTHING;
	} else if (err || (process->space.count == 0 && is_late(process))) {
		snprintf(
			ret, DIAGNOSE_BYTES,
			"PID %d (%s) has not told its mappings in time, as on a busy host: whether "
			"it is a JVM with the agent is not known yet",
			(int)pid, comm);
		seen = DIAGNOSE_SEEN_LATE;
	} else if (process->space.count == 0) {
		snprintf(ret, DIAGNOSE_BYTES,
			 "cannot look into PID %d (%s): run as root, or as the user it runs as; a "
			 "kernel thread has nothing to look into: -a records it",
			 (int)pid, comm);
		seen = DIAGNOSE_SEEN_NOTHING;
	} else if (!process_has_libjvm(process)) {
		seen = DIAGNOSE_SEEN_OTHER;
	} else if (!diagnose_has_agent(process)) {
		snprintf(ret, DIAGNOSE_BYTES,
			 "PID %d (%s) is a JVM without the agent: add " DIAGNOSE_AGENT_LINE
			 " to its options (JAVA_TOOL_OPTIONS in an image) and start it again",
			 (int)pid, comm);
	} else if (!say_listening(ret, DIAGNOSE_BYTES, pid)) {
		say_unconnected(ret, DIAGNOSE_BYTES, socket_path, pid);
	}
	process_free(process);
	return seen;
}

int diagnose_process(const struct process *process, const char *socket_path,
		     char ret[DIAGNOSE_BYTES])
{
	if (!process->jvm || process->jvm->state >= JVM_CURRENT) {
		diagnose_pid(process->pid, socket_path, DIAGNOSE_READ_NS, ret);
		return -EAGAIN;
	}
	snprintf(ret, DIAGNOSE_BYTES,
		 "PID %d: its agent has connected, and still tells what code there is: ask again "
		 "in a few seconds",
		 (int)process->pid);
	return -EAGAIN;
}
