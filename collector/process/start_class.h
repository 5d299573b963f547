// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   JVMs that run a jar -> the class that the jar starts, as a label of the process
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  counted; a process without the label is called as before
 * source:  container/jar_parser.h
 *
 * A JVM of java -jar app.jar tells the jar's path alone, and people look for com.example.Shop. So
 * the jar is opened in the process's root directory, by a guarded call (base/guarded.h), and read
 * by a parser without rights, one jar after the other. What comes of it is the label
 * START_CLASS_LABEL: selectors, lists and a store have it. A box in a graph stays as it was,
 * because a name that comes late would make two of it.
 */
#ifndef FG_PROCESS_START_CLASS_H
#define FG_PROCESS_START_CLASS_H

#include "base/counters.h"
#include "base/map64.h"
#include "container/jar_parser.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define START_CLASS_WAITING 256 /* JVMs whose jar has not been read yet; past it, none is read */

struct process;

struct start_class_stats {
	uint64_t read;	  /* jars whose class is known */
	uint64_t none;	  /* jars that name no class, or are none */
	uint64_t missed;  /* jars that could not be opened */
	uint64_t lost;	  /* jars whose parser has died, lied or taken too long */
	uint64_t refused; /* past START_CLASS_WAITING */
};

/* Identity of a process. */
struct start_class_place {
	pid_t pid;
	uint64_t start_ticks;
};

/* A zero-filled struct is a valid start. */
struct start_classes {
	struct start_class_place waiting[START_CLASS_WAITING]; /* a ring */
	size_t first, count;
	bool is_reading; /* the jar of the first one, by parser */
	struct jar_parser parser;
	struct start_class_stats stats;
};

extern const struct counters start_classes_counters;

void start_classes_fini(struct start_classes *classes);
/* The process's agent has told what the JVM runs. */
void start_classes_add(struct start_classes *classes, const struct process *process);
/* Goes on without waiting. processes: PID -> process. Returns whether all jars have been read. */
bool start_classes_step(struct start_classes *classes, const struct map64 *processes,
			uint64_t now_ns);

#endif
