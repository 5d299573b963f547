// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a place in a file's code -> perf events there, or links of a BPF program
 * units:   bytes in the file
 * threads: any; a struct uprobe belongs to one thread at a time
 * errors:  negative errno, and a sentence that says what stands in the way
 * source:  perf_event_open(2); Documentation/trace/uprobetracer.rst; kernel/trace/trace_uprobe.c,
 *          trace_event_perf.c
 *
 * A call takes milliseconds, reads the file in the kernel, and can hang as long as the file's file
 * system does: use a guarded thread.
 *
 * There are three ways. A link between the place and a BPF program (sample/uprobe_multi.h) needs a
 * kernel that has such links. Where that is missing, the uprobe PMU needs CAP_SYS_ADMIN. Where that
 * is missing too, a line in uprobe_events of a mounted trace file system makes a tracepoint
 * (sample/uprobe_line.h), which needs CAP_PERFMON and the right to write there.
 *
 * While a process that maps the file holds the lock of its mappings, each way waits. The PMU and
 * lines wait with event_mutex held, without which nobody's perf event of a tracepoint is closed:
 * the program that samples would not end either. So links come first.
 *
 * A link is no perf event, but armed and closed as one: it has its program from the begin on, and
 * is never disabled. What the kernel makes of an event:
 *
 * - From open to close, the event arms the place: the processes that it is for run into the kernel
 *   there, and their semaphore is one higher. An event that is disabled arms too.
 * - An event of a process counts hits of one thread. But a BPF program that is attached to the
 *   event runs at the hits of all threads of the process, also while the event is disabled.
 * - A BPF program that is attached to an event of all processes (pid -1) on one CPU runs at hits on
 *   all CPUs. So one such event is enough, and a second one would run its program again.
 * - The semaphore falls, and the place is disarmed, a moment after the last event was closed.
 *
 * All who open one place must name the same semaphore, or none must.
 */
#ifndef FG_SAMPLE_UPROBE_H
#define FG_SAMPLE_UPROBE_H

#include "sample/uprobe_line.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define UPROBE_WHY_BYTES 600

enum uprobe_way {
	UPROBE_ANY, /* the first one that is not refused */
	UPROBE_LINK,
	UPROBE_PMU,
	UPROBE_LINE,
};

struct uprobe_place {
	int file_fd; /* O_PATH is enough; borrowed until uprobe_fini */
	uint64_t file_off;
	uint64_t semaphore_off; /* 0: none */
};

struct uprobe_who {
	pid_t pid; /* -1: all processes; cpu must be given then */
	int cpu;   /* -1: all CPUs */
	bool is_disabled;
	/*
	 * Loaded for UPROBE_MULTI_TYPE, for a link, which is of one process. 0: there is no link.
	 */
	int program_fd;
};

struct uprobe {
	struct uprobe_place place;
	enum uprobe_way way; /* UPROBE_ANY until the first event is open */
	struct uprobe_line line;
};

/* way says which ways may be tried. Nothing is opened. */
void uprobe_init(struct uprobe *uprobe, const struct uprobe_place *place, enum uprobe_way way);
/*
 * Opens one event, which the caller closes; why is then "". -EACCES, -EPERM: no right; -EOPNOTSUPP:
 * the kernel cannot; -EINVAL: not this place, or not with this semaphore; -ESRCH: the process is
 * gone.
 */
int uprobe_open_event(struct uprobe *uprobe, const struct uprobe_who *who,
		      char why[UPROBE_WHY_BYTES]);
/*
 * To be called after the events have been closed. -EBUSY: the line stays, because one is open.
 * The line is then removed by uprobe_line_sweep when this process is gone.
 */
int uprobe_fini(struct uprobe *uprobe);

/*
 * Tries which way there is, with events that arm nothing. In why is why it is not the way before,
 * or why there is none.
 */
int uprobe_check(enum uprobe_way *ret, char why[UPROBE_WHY_BYTES]);

/* The sentence for an error of a way; is_admin: CAP_SYS_ADMIN is there. */
void uprobe_explain(enum uprobe_way way, int err, bool is_admin, char why[UPROBE_WHY_BYTES]);

#endif
