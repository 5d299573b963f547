// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a place in a file's code -> a tracepoint of this process's own
 * units:   bytes in the file
 * threads: any; a struct uprobe_line belongs to one thread at a time
 * errors:  -ENOENT: no trace file system is mounted, or its kernel has no uprobes; another negative
 *          errno of open(2) or write(2)
 * source:  Documentation/trace/uprobetracer.rst; trace_uprobe_create and dyn_event_release of the
 *          kernel
 *
 * A line of uprobe_events lives until it is removed, also when its process is gone, but does
 * nothing while no event is open. Its group says whose it is: fgcollect_<PID>_<start time in
 * ticks>. Lines of processes that are gone are removed when a line is added. PIDs are those of the
 * collector's PID namespace. A line in use cannot be removed, so a collector in another namespace
 * loses none.
 */
#ifndef FG_SAMPLE_UPROBE_LINE_H
#define FG_SAMPLE_UPROBE_LINE_H

#include <stddef.h>
#include <stdint.h>

#define UPROBE_LINE_NAME_BYTES 96

struct uprobe_line {
	char name[UPROBE_LINE_NAME_BYTES]; /* group/event; "": there is no line */
	uint64_t id;			   /* for perf_event_open */
};

/* semaphore_off 0: none. */
int uprobe_line_add(int file_fd, uint64_t file_off, uint64_t semaphore_off,
		    struct uprobe_line *ret);
/* A line that is not there is legal. -EBUSY: an event of the line is open. */
int uprobe_line_remove(struct uprobe_line *line);
/* Removes the lines of collectors that are gone. Returns how many, or why none. */
int uprobe_line_sweep(void);

#endif
