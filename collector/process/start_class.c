// SPDX-License-Identifier: Apache-2.0
/* Reads jars for the classes that they start, see start_class.h. */
#include "process/start_class.h"

#include "base/cleanup.h"
#include "base/guarded.h"
#include "base/process_stat.h"
#include "base/root_file.h"
#include "process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void start_classes_fini(struct start_classes *classes)
{
	if (classes->is_reading)
		jar_parser_stop(&classes->parser);
	*classes = (struct start_classes){0};
}

void start_classes_add(struct start_classes *classes, const struct process *process)
{
	const char *const jar = process_attr(process, "java.jar");
	const size_t last = (classes->first + classes->count) % START_CLASS_WAITING;

	if (!jar || !jar[0] || process->start_class[0] || process->is_replayed)
		return;
	if (classes->count == START_CLASS_WAITING) {
		classes->stats.refused++;
		return;
	}
	classes->waiting[last] = (struct start_class_place){process->pid, process->start_ticks};
	classes->count++;
}

/* ---- the file ---- */

struct open_call {
	struct guarded_call base;
	struct start_class_place place;
	char path[PATH_MAX];
	int fd; /* with O_PATH, or negative errno */
};

/* The descriptor, if it is of a regular file. */
static int regular(int path_fd)
{
	struct stat st;

	if (path_fd < 0 || (root_file_stat(path_fd, &st) == 0 && S_ISREG(st.st_mode)))
		return path_fd;
	close(path_fd);
	return -EINVAL;
}

/* A path that is not absolute begins where the process is. */
static int open_jar(const struct open_call *call)
{
	const bool is_whole = call->path[0] == '/';
	char name[64];
	uint64_t ticks;

	snprintf(name, sizeof(name), "/proc/%d/%s", (int)call->place.pid,
		 is_whole ? "root" : "cwd");
	_cleanup_close_ const int dir_fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir_fd < 0)
		return -errno;
	/* It is the process still, and not a later one with its PID. */
	if (process_stat_read_ticks(call->place.pid, &ticks) < 0 ||
	    ticks != call->place.start_ticks)
		return -ESRCH;
	return regular(root_file_open_at(dir_fd, call->path, O_PATH,
					 is_whole ? RESOLVE_IN_ROOT : RESOLVE_BENEATH));
}

static void run_open(struct guarded_call *base)
{
	struct open_call *const call = (struct open_call *)base;

	call->fd = open_jar(call);
}

static void free_open(struct guarded_call *base)
{
	struct open_call *const call = (struct open_call *)base;

	if (call->fd >= 0)
		close(call->fd);
	free(call);
}

/* Has the jar of the process read. Negative errno: it is not. */
static int begin(struct start_classes *classes, const struct process *process, uint64_t now_ns)
{
	const char *const jar = process_attr(process, "java.jar");
	struct open_call *const call = malloc(sizeof(*call));
	enum guarded_end end;
	int err;

	if (!call || !jar || strlen(jar) >= sizeof(call->path)) {
		free(call);
		return -ENOENT;
	}
	*call = (struct open_call){.base = {.run = run_open, .free = free_open, .opens = true},
				   .place = classes->waiting[classes->first],
				   .fd = -EAGAIN};
	strcpy(call->path, jar);
	end = guarded_run(process->pid, &call->base);
	if (end == GUARDED_LATE)
		return -ETIMEDOUT;
	err = end == GUARDED_DONE ? call->fd : -ETIMEDOUT;
	if (err >= 0) {
		err = jar_parser_start(process->pid, call->fd, now_ns, &classes->parser);
		guarded_close(process->pid, call->fd);
	}
	free(call);
	return err;
}

/* ---- one jar after the other ---- */

static struct process *first_of(const struct start_classes *classes, const struct map64 *processes)
{
	const struct start_class_place *const place = &classes->waiting[classes->first];
	struct process *const process = map64_find(processes, (uint64_t)place->pid);

	return process && process->start_ticks == place->start_ticks && process_has_program(process)
		       ? process
		       : NULL;
}

static void leave_first(struct start_classes *classes)
{
	classes->is_reading = false;
	classes->first = (classes->first + 1) % START_CLASS_WAITING;
	classes->count--;
}

static void take(struct start_classes *classes, struct process *process, int err,
		 const char class[JAR_CLASS_BYTES])
{
	if (err == -EPROTO)
		classes->stats.lost++;
	else if (err)
		classes->stats.none++;
	else
		classes->stats.read++;
	if (!err && process)
		process_set_start_class(process, class);
	leave_first(classes);
}

bool start_classes_step(struct start_classes *classes, const struct map64 *processes,
			uint64_t now_ns)
{
	char class[JAR_CLASS_BYTES];
	int err;

	while (classes->count > 0) {
		struct process *const process = first_of(classes, processes);

		if (!classes->is_reading && !process) {
			leave_first(classes);
			continue;
		}
		err = classes->is_reading ? 0 : begin(classes, process, now_ns);
		if (err == -EAGAIN)
			return false;
		if (err) {
			classes->stats.missed++;
			leave_first(classes);
			continue;
		}
		classes->is_reading = true;
		err = jar_parser_take(&classes->parser, now_ns, class);
		if (err == -EAGAIN)
			return false;
		take(classes, process, err, class);
	}
	return true;
}

static const struct counter counters[] = {
	COUNTER_GAUGE(struct start_classes, count, "jars.waiting", "jars_waiting",
		      "Jars of JVMs that have still to be read for the class that they start."),
	COUNTER_SUM(struct start_classes, stats.read, "jars.read", "jars_read_total",
		    "Jars whose class is known."),
	COUNTER_SUM(struct start_classes, stats.none, "jars.without_class",
		    "jars_without_class_total", "Jars that name no class, or are none."),
	COUNTER_SUM(struct start_classes, stats.missed, "jars.missed", "jars_missed_total",
		    "Jars that could not be opened."),
	COUNTER_SUM(struct start_classes, stats.lost, "jars.lost", "jars_lost_total",
		    "Jars whose parser died, lied or took too long."),
	COUNTER_SUM(struct start_classes, stats.refused, "jars.refused", "jars_refused_total",
		    "Jars past the most that wait."),
};

const struct counters start_classes_counters = COUNTERS(struct start_classes, counters);
