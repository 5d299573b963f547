// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what changes in the code maps of all processes -> whoever listens
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  none: a listener counts its own
 * source:  none
 *
 * What is written of the model's code is no part of the model: files may be slow or full, and no
 * process stays for them. Processes of a capture have no listener.
 */
#ifndef FG_CODE_CODE_LISTENER_H
#define FG_CODE_CODE_LISTENER_H

#include <stddef.h>
#include <stdint.h>

struct code_range;
struct process;

enum code_news {
	CODE_BEGINS,	/* the process has a JVM from now on */
	CODE_ADDED,	/* a range */
	CODE_CHANGED,	/* otherwise than by ranges that were added or removed */
	CODE_REPLACED,	/* all code is gone: the process runs another program */
	CODE_SWEPT,	/* nothing is new; told of each process that is there, once a second */
	CODE_ENDED,	/* the process has ended; what is known of it stays for a while */
	CODE_FORGOTTEN, /* the process is about to be freed */
};

struct code_event {
	enum code_news news;
	uint64_t now_ns;
	const struct code_range *range; /* of CODE_ADDED */
	/* of CODE_ADDED: when perf is to take the range to begin, which may be before its birth */
	uint64_t begin_ns;
};

struct code_listener {
	void (*hear)(void *arg, struct process *process, const struct code_event *event);
	uint32_t (*number)(void *arg); /* the dump_index of the next range */
	/* The memory that the listener has of the process, which is charged for it. */
	size_t (*bytes)(const struct process *process);
	void *arg;
};

#endif
