// SPDX-License-Identifier: Apache-2.0
/*
 * Looks for the processes to record among the known JVMs, then among all processes, see diagnose.h.
 */
#include "inspect/diagnose.h"

#include "base/clock.h"
#include "inspect/diagnose_names.h"

#include <errno.h>
#include <stdio.h>

static bool is_known_jvm(const struct process *process)
{
	return process && process->jvm && process->jvm->state == JVM_CURRENT &&
	       !process->jvm->is_outside;
}

static uint64_t time_left_ns(uint64_t until_ns)
{
	const uint64_t now_ns = clock_now_ns();

	return now_ns < until_ns ? until_ns - now_ns : 0;
}

/* The running JVM with the lowest PID, or 0. None is connected. */
static pid_t find_other_jvm(struct targets *targets)
{
	const uint64_t until_ns = clock_now_ns() + DIAGNOSE_READ_NS;
	struct process *process;
	size_t pos = 0;
	pid_t pid = 0;

	targets_want_all(targets);
	targets_read_all(targets);
	while ((process = targets_next(targets, &pos))) {
		if (process->gone_ns || (pid && process->pid > pid))
			continue;
		process_read_on(process, time_left_ns(until_ns));
		if (process_has_libjvm(process))
			pid = process->pid;
	}
	targets_unwant_all(targets);
	return pid;
}

static int diagnose_any(struct targets *targets, const char *socket_path, char ret[DIAGNOSE_BYTES])
{
	char why[DIAGNOSE_BYTES / 2];
	const pid_t pid = find_other_jvm(targets);

	if (!pid) {
		snprintf(ret, DIAGNOSE_BYTES,
			 "no JVM is running that this user can see: "
			 "start one with " DIAGNOSE_AGENT_LINE);
		return -EAGAIN;
	}
	diagnose_pid(pid, socket_path, DIAGNOSE_READ_NS, ret);
	snprintf(why, sizeof(why), "%.*s", (int)sizeof(why) - 1, ret);
	snprintf(ret, DIAGNOSE_BYTES,
		 "no JVM with the agent has connected: %s; -p %d or -a records it as it is, with "
		 "names "
		 "read from outside",
		 why, (int)pid);
	return -EAGAIN;
}

/*
 * Judges one process. Any process can be recorded, but names of a JVM without its agent are read
 * from outside, and only the agent's JVMs have probes.
 */
static int diagnose_one(const struct recording_options *options, const struct process *process,
			const char *socket_path, char ret[DIAGNOSE_BYTES])
{
	const pid_t pid = options->pid;
	char what[DIAGNOSE_BYTES / 2];

	if (process && process->jvm && process->jvm->state < JVM_CURRENT &&
	    !process->jvm->is_outside)
		return diagnose_process(process, socket_path, ret);
	switch (diagnose_pid(pid, socket_path, DIAGNOSE_READ_NS, ret)) {
	case DIAGNOSE_SEEN_LATE:
		return 0;
	case DIAGNOSE_SEEN_OTHER:
		if (recording_has_probes(options))
			snprintf(ret, DIAGNOSE_BYTES,
				 "PID %d is no JVM, and so has no alloc, lock or exceptions",
				 (int)pid);
		return 0;
	case DIAGNOSE_SEEN_JVM:
		snprintf(what, sizeof(what), "%.*s", (int)sizeof(what) - 1, ret);
		snprintf(ret, DIAGNOSE_BYTES, "%s: %s", diagnose_lack_outside(options), what);
		return 0;
	default:
		return -EAGAIN;
	}
}

/* With --unwind=fp: names JVMs that are to be recorded and have no frame pointers. */
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

/* Names JVMs that are to be recorded and whose Java frames cannot be seen. */
static void diagnose_zero(const struct recording_options *options, struct targets *targets,
			  char ret[DIAGNOSE_BYTES])
{
	const struct process *process, *first = NULL;
	size_t pos = 0, n = 0;

	while ((process = targets_next(targets, &pos))) {
		if (!is_known_jvm(process) || !recording_wants(options, process) ||
		    !process_is_zero_vm(process))
			continue;
		first = n++ ? first : process;
	}
	if (first)
		snprintf(ret, DIAGNOSE_BYTES,
			 "%zu of the JVMs, PID %d first, are Zero VMs: " DIAGNOSE_ZERO, n,
			 first->pid);
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
		return ret ? diagnose_one(options, process, socket_path, ret) : -EAGAIN;
	}
	while ((process = targets_next(targets, &pos))) {
		if (is_known_jvm(process) && recording_wants(options, process))
			return 0;
	}
	return ret ? diagnose_any(targets, socket_path, ret) : -EAGAIN;
}

/*
 * Every alternative must be there. What will be missing is said of the first that lacks something.
 */
static int diagnose_alternatives(const struct recording_options *options, struct targets *targets,
				 const char *socket_path, char *ret)
{
	const size_t n = recording_alternatives(options);
	struct recording_options one;
	char why[DIAGNOSE_BYTES] = "";
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		recording_alternative(options, i, &one);
		why[0] = '\0';
		err = diagnose_wanted(&one, targets, socket_path, ret ? why : NULL);
		if (ret && why[0] && (err || !ret[0]))
			memcpy(ret, why, DIAGNOSE_BYTES);
	}
	return err;
}

int diagnose_targets(const struct recording_options *options, struct targets *targets,
		     const char *socket_path, char ret[DIAGNOSE_BYTES])
{
	int err;

	if (ret)
		ret[0] = '\0';
	err = diagnose_alternatives(options, targets, socket_path, ret);
	if (!err && ret && !ret[0])
		diagnose_zero(options, targets, ret);
	if (!err && ret && !ret[0] && options->stack_bytes == 0)
		diagnose_frame_pointers(options, targets, ret);
	return err;
}
