// SPDX-License-Identifier: Apache-2.0
/* Looks for what keeps a JVM from being recorded, see diagnose.h. */
#include "app/diagnose.h"

#include "app/diagnose_names.h"

#include "base/cleanup.h"
#include "base/process_stat.h"
#include "intake/dial.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGENT_LINE "-agentpath:/opt/fgcollect/libfgagent.so"

static bool is_known_jvm(const struct process *process)
{
	return process && process->jvm && process->jvm->state == JVM_CURRENT;
}

static void say_mount(char *ret, size_t size, const char *socket_path, pid_t pid)
{
	const char *slash = strrchr(socket_path, '/');
	const int len = slash ? (int)(slash - socket_path) : 1;
	const char *dir = slash ? socket_path : ".";

	snprintf(ret, size,
		 "PID %d has the agent loaded, but it has not connected to %s: let its container "
		 "see the directory (-v %.*s:%.*s:ro) and check the socket= of its -agentpath",
		 (int)pid, socket_path, len, dir, len, dir);
}

/* Whether its agent listens; then why it was not reached. */
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

	if (process_new(pid, 0, &process) < 0)
		return false;
	may = process->space.count == 0 || process_has_agent(process) /* 0: not ours to see */
	      || age_ns < DIAGNOSE_YOUNG_NS ||
	      (process_has_libjvm(process) && age_ns < DIAGNOSE_STARTING_NS);
	process_free(process);
	return may;
}

enum seen_as {
	SEEN_NOTHING, /* it is gone, or not ours to see */
	SEEN_OTHER,   /* no JVM; nothing is said */
	SEEN_JVM,
};

/* What process it is that has no connected agent. */
static enum seen_as look_at(pid_t pid, const char *socket_path, char ret[DIAGNOSE_BYTES])
{
	struct process *process = NULL;
	enum seen_as seen = SEEN_JVM;
	char comm[PROCESS_COMM_BYTES];
	uint64_t ticks;
	int err;

	ret[0] = '\0';
	if (process_stat_start_ticks(pid, &ticks) == -ESRCH) {
		snprintf(ret, DIAGNOSE_BYTES,
			 "PID %d does not exist: 'fgcollect list' shows the JVMs there are, by "
			 "their PIDs on the host",
			 (int)pid);
		return SEEN_NOTHING;
	}
	err = process_new(pid, 0, &process);
	process_stat_comm(pid, pid, comm, sizeof(comm));
	if (err || process->space.count == 0) {
		snprintf(ret, DIAGNOSE_BYTES,
			 "cannot look into PID %d (%s): run as root, or as the user it runs as; a "
			 "kernel thread has nothing to look into: -a records it",
			 (int)pid, comm);
		seen = SEEN_NOTHING;
	} else if (!process_has_libjvm(process)) {
		seen = SEEN_OTHER;
	} else if (!process_has_agent(process)) {
		snprintf(ret, DIAGNOSE_BYTES,
			 "PID %d (%s) is a JVM without the agent: add " AGENT_LINE
			 " to its options (JAVA_TOOL_OPTIONS in an image) and start it again",
			 (int)pid, comm);
	} else if (!say_listening(ret, DIAGNOSE_BYTES, pid)) {
		say_mount(ret, DIAGNOSE_BYTES, socket_path, pid);
	}
	process_free(process);
	return seen;
}

int diagnose_pid(pid_t pid, const char *socket_path, char ret[DIAGNOSE_BYTES])
{
	look_at(pid, socket_path, ret);
	return -EAGAIN;
}

int diagnose_process(const struct process *process, const char *socket_path,
		     char ret[DIAGNOSE_BYTES])
{
	if (!process->jvm || process->jvm->state >= JVM_CURRENT)
		return diagnose_pid(process->pid, socket_path, ret);
	snprintf(ret, DIAGNOSE_BYTES,
		 "PID %d: its agent has connected, and still tells what code there is: ask again "
		 "in a few seconds",
		 (int)process->pid);
	return -EAGAIN;
}

/* A running JVM that is not connected, or 0. */
static pid_t find_other_jvm(pid_t after)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct process *process;
		bool is_jvm;

		if (pid <= after || process_new(pid, 0, &process) < 0)
			continue;
		is_jvm = process_has_libjvm(process);
		process_free(process);
		if (is_jvm)
			return pid;
	}
	return 0;
}

static int diagnose_any(const char *socket_path, char ret[DIAGNOSE_BYTES])
{
	char why[DIAGNOSE_BYTES / 2];
	pid_t pid;

	pid = find_other_jvm(0);
	if (!pid) {
		snprintf(ret, DIAGNOSE_BYTES,
			 "no JVM is running that this user can see: start one with " AGENT_LINE);
		return -EAGAIN;
	}
	diagnose_pid(pid, socket_path, ret);
	snprintf(why, sizeof(why), "%.*s", (int)sizeof(why) - 1, ret);
	snprintf(ret, DIAGNOSE_BYTES, "no JVM with the agent has connected: %s", why);
	return -EAGAIN;
}

/* A process of any kind is recorded; what is a JVM, without the names of its Java code if need be. */
static int diagnose_one(const struct process *process, pid_t pid, const char *socket_path,
			char ret[DIAGNOSE_BYTES])
{
	char what[DIAGNOSE_BYTES / 2];

	if (process && process->jvm && process->jvm->state < JVM_CURRENT)
		return diagnose_process(process, socket_path, ret);
	switch (look_at(pid, socket_path, ret)) {
	case SEEN_OTHER:
		return 0;
	case SEEN_JVM:
		snprintf(what, sizeof(what), "%.*s", (int)sizeof(what) - 1, ret);
		snprintf(ret, DIAGNOSE_BYTES, "Java frames will have no names: %s", what);
		return 0;
	default:
		return -EAGAIN;
	}
}

/* Along frame pointers: what is to be recorded and has none, if anything. */
static void diagnose_frame_pointers(const struct recording_options *options,
				    struct targets *targets, char ret[DIAGNOSE_BYTES])
{
	const struct process *process, *first = NULL;
	size_t pos = 0, n = 0;

	while ((process = targets_next(targets, &pos))) {
		if (!is_known_jvm(process) || !recording_wants(options, process) ||
		    process->jvm->hello_flags & (WIRE_HELLO_FP_SET | WIRE_HELLO_FP_WAS_ON))
			continue;
		first = n++ ? first : process;
	}
	if (first)
		snprintf(ret, DIAGNOSE_BYTES,
			 "%zu of the JVMs, PID %d first, were started without frame pointers, so "
			 "that --unwind=fp misses callers: leave it out, or give the agent "
			 "framepointer=auto (FGAGENT_OPTS) and start them again",
			 n, first->pid);
}

static int diagnose_wanted(const struct recording_options *options, struct targets *targets,
			   const char *socket_path, char *ret)
{
	const struct process *process;
	size_t pos = 0;

	if (!selector_is_empty(&options->select))
		return diagnose_names(options, targets, socket_path, ret);
	if (options->all)
		return 0;
	if (options->pid > 0) {
		process = targets_find(targets, options->pid);
		if (is_known_jvm(process))
			return 0;
		return ret ? diagnose_one(process, options->pid, socket_path, ret) : -EAGAIN;
	}
	while ((process = targets_next(targets, &pos))) {
		if (is_known_jvm(process) && recording_wants(options, process))
			return 0;
	}
	return ret ? diagnose_any(socket_path, ret) : -EAGAIN;
}

int diagnose_targets(const struct recording_options *options, struct targets *targets,
		     const char *socket_path, char ret[DIAGNOSE_BYTES])
{
	int err;

	if (ret)
		ret[0] = '\0';
	err = diagnose_wanted(options, targets, socket_path, ret);
	if (!err && ret && !ret[0] && options->stack_bytes == 0)
		diagnose_frame_pointers(options, targets, ret);
	return err;
}
