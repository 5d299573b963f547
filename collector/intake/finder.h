// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the processes of a host -> those whose agents listen, and where
 * units:   CLOCK_MONOTONIC nanoseconds; rounds of FINDER_ROUND_NS
 * threads: one
 * errors:  none; what cannot be read is counted
 * source:  proc(5); intake/beacon.h
 *
 * In each round /proc is listed, and a few processes are looked into: an agent listens from its
 * JVM's start on, so that a process is of interest when it is new, or runs another program than
 * before, and less and less from then on: in the rounds 0, 1, 2, 4, 8 and so on to 128. Whether it
 * runs another program is asked of each in every fourth round. A step takes a few milliseconds at
 * most, then others have their turn for four times as long. Whoever knows that a JVM has begun says
 * so with finder_expect.
 */
#ifndef FG_INTAKE_FINDER_H
#define FG_INTAKE_FINDER_H

#include "base/map64.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FINDER_ROUND_NS	     UINT64_C(1000000000)
#define FINDER_MAX_PROCESSES 65536
#define FINDER_MAX_EXPECTED  64

struct finder_found {
	int proc_fd; /* its directory in /proc, borrowed for the call */
	pid_t pid;
	uint64_t start_ticks;
	const char *path; /* borrowed for the call */
};

typedef void (*finder_fn)(void *arg, const struct finder_found *found);

struct finder_stats {
	uint64_t rounds, steps;
	uint64_t looks;	     /* into a process's mappings */
	uint64_t denied;     /* looks without the right to */
	uint64_t too_large;  /* mappings past BEACON_MAX_BYTES */
	uint64_t untracked;  /* processes past FINDER_MAX_PROCESSES, or without memory for them */
	uint64_t unexpected; /* calls of finder_expect past FINDER_MAX_EXPECTED */
	uint64_t spent_ns;   /* of processor time */
};

struct finder {
	const char *proc_dir; /* borrowed */
	DIR *dir;	      /* NULL between rounds */
	struct map64 seen;    /* PID -> what was seen of it */
	struct {
		pid_t pid; /* 0: free */
		unsigned tries;
		uint64_t due_ns;
	} expected[FINDER_MAX_EXPECTED];
	uint32_t round;
	uint64_t round_began_ns, next_ns;
	struct finder_stats stats;
};

/* proc_dir is "/proc", but in tests. */
void finder_init(struct finder *finder, const char *proc_dir);
void finder_fini(struct finder *finder);

/* Goes on, if it is time; fn is called for each that is found, once a process and program. */
void finder_step(struct finder *finder, uint64_t now_ns, finder_fn fn, void *arg);
/* When finder_step next has something to do. */
uint64_t finder_next_ns(const struct finder *finder);

/* That process is or becomes a JVM: it is looked into several times in the next seconds. */
void finder_expect(struct finder *finder, pid_t pid, uint64_t now_ns);

#endif
