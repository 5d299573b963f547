// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   all processes of a host -> the processes whose agents listen, and the agents' paths
 * units:   CLOCK_MONOTONIC nanoseconds; rounds of FINDER_ROUND_NS
 * threads: one
 * errors:  none; a process that cannot be read is counted
 * source:  proc(5); intake/beacon.h
 *
 * Each round lists /proc and reads the mappings of a few processes, a look. An agent listens from
 * the start of its JVM on. So a process is looked into when it is new or runs another program, and
 * then less and less often: in the rounds 0, 1, 2, 4, 8 and so on to 128. Every fourth round checks
 * whether a process runs another program. A step takes a few milliseconds at most, and the next
 * step comes after a pause of at least four times as long. A caller that knows of a new JVM calls
 * finder_expect. A look at a process with many mappings takes part of several steps; meanwhile
 * there is no other such look, and a process that would need one is looked into in a later round.
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
	int proc_fd; /* the process's directory in /proc, borrowed for the call */
	pid_t pid;
	uint64_t start_ticks;
	const char *path; /* borrowed for the call */
};

typedef void (*finder_fn)(void *arg, const struct finder_found *found);

struct finder_stats {
	uint64_t rounds, steps;
	uint64_t looks;	     /* times that mappings of a process were read */
	uint64_t denied;     /* looks without the right to read */
	uint64_t too_large;  /* looks at mappings past BEACON_MAX_BYTES */
	uint64_t put_off;    /* looks that come later: another one goes on, or no answer in time */
	uint64_t untracked;  /* processes past FINDER_MAX_PROCESSES, or without memory */
	uint64_t unexpected; /* calls of finder_expect past FINDER_MAX_EXPECTED */
	uint64_t spent_ns;   /* processor time */
};

struct finder {
	const char *proc_dir; /* borrowed */
	DIR *dir;	      /* NULL between rounds */
	struct {
		struct beacon *search; /* NULL: no look goes on */
		int proc_fd;
		pid_t pid;
		uint64_t due_ns;
	} going;
	struct map64 seen; /* PID -> the process's inode, program and looks */
	struct {
		pid_t pid; /* 0: free */
		unsigned tries;
		uint64_t due_ns;
	} expected[FINDER_MAX_EXPECTED];
	uint32_t round;
	uint64_t round_began_ns, next_ns;
	struct finder_stats stats;
};

/* proc_dir is "/proc", except in tests. */
void finder_init(struct finder *finder, const char *proc_dir);
void finder_fini(struct finder *finder);
size_t finder_bytes(const struct finder *finder); /* its memory */

/*
 * Goes on with the round if a step is due. Calls fn for each agent found, as a rule once for each
 * process and program.
 */
void finder_step(struct finder *finder, uint64_t now_ns, finder_fn fn, void *arg);
/* When finder_step next has something to do. */
uint64_t finder_next_ns(const struct finder *finder);

/* The process is or becomes a JVM: it is looked into up to 30 times within about a minute. */
void finder_expect(struct finder *finder, pid_t pid, uint64_t now_ns);

#endif
