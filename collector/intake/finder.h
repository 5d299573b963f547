// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   all processes of a host -> the processes whose agents listen, and the agents' paths
 * units:   CLOCK_MONOTONIC nanoseconds; rounds of FINDER_ROUND_NS
 * threads: one
 * errors:  none; a process that cannot be read is counted
 * source:  proc(5); intake/announcement.h
 *
 * Each round lists /proc and reads the mappings of a few processes, a look. An agent listens from
 * the start of its JVM on. So a process is looked into when it is new or runs another program, and
 * then less and less often: in the rounds 0, 1, 2, 4, 8 and so on to 128. Every fourth round checks
 * whether a process runs another program. A step takes a few milliseconds at most, and the next
 * step comes after a pause of at least four times as long. A caller that knows of a new JVM calls
 * finder_expect. A look at a process with many mappings takes part of several steps; meanwhile
 * there is no other such look, and a process that would need one is looked into in a later round.
 *
 * Containers and users share what the finder remembers. While there are more processes than it may
 * remember, whoever has the most has some forgotten after each round, and gets no place in the
 * next.
 */
#ifndef FG_INTAKE_FINDER_H
#define FG_INTAKE_FINDER_H

#include "base/counters.h"
#include "base/map64.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FINDER_ROUND_NS	     UINT64_C(1000000000)
#define FINDER_MAX_PROCESSES 65536
#define FINDER_MAX_EXPECTED  64
#define FINDER_AGAIN_ROUNDS  16

struct finder_found {
	int proc_fd; /* the process's directory in /proc, borrowed for the call */
	pid_t pid;
	uint64_t start_ticks;
	const char *path; /* borrowed for the call */
};

/* Whether the agent was taken. If not, it is looked for again FINDER_AGAIN_ROUNDS later. */
typedef bool (*finder_fn)(void *arg, const struct finder_found *found);
/* The owner_group of a process. */
typedef uint64_t (*finder_group_fn)(void *arg, pid_t pid);

struct finder_stats {
	uint64_t rounds, steps;
	uint64_t looks;	     /* times that mappings of a process were read */
	uint64_t denied;     /* looks without the right to read */
	uint64_t too_large;  /* looks at mappings past ANNOUNCEMENT_MAX_BYTES */
	uint64_t put_off;    /* looks that come later: another one goes on, or no answer in time */
	uint64_t untracked;  /* processes past FINDER_MAX_PROCESSES each round, or without memory */
	uint64_t unexpected; /* expected processes past FINDER_MAX_EXPECTED */
	uint64_t spent_ns;   /* processor time */
};
extern const struct counters finder_counters;

struct finder {
	const char *proc_dir; /* borrowed */
	DIR *dir;	      /* NULL between rounds */
	struct {
		struct announcement *search; /* NULL: no look goes on */
		int proc_fd;
		pid_t pid;
		uint64_t due_ns;
	} going;
	struct map64 seen; /* PID -> the process's inode, program and looks */
	size_t max_seen;   /* FINDER_MAX_PROCESSES, except in tests */
	bool is_short;	   /* in this round somebody got no place, */
	bool is_full;	   /* for want of a free one */
	uint64_t greedy;   /* the group that gets no place in this round; 0: none */
	finder_group_fn group;
	void *group_arg;
	struct {
		pid_t pid; /* 0: free */
		uint64_t group;
		unsigned tries;
		uint64_t due_ns;
	} expected[FINDER_MAX_EXPECTED];
	uint32_t round;
	uint64_t round_began_ns, next_ns;
	struct finder_stats stats;
};

/* proc_dir is "/proc", except in tests. */
void finder_init(struct finder *finder, const char *proc_dir);
/* Sets how to find a process's group. Without this all processes are of one. */
void finder_set_group(struct finder *finder, finder_group_fn group, void *arg);
void finder_fini(struct finder *finder);
size_t finder_bytes(const struct finder *finder); /* its memory */

/*
 * Goes on with the round if a step is due. Calls fn for each agent found, as a rule once for each
 * process and program.
 */
void finder_step(struct finder *finder, uint64_t now_ns, finder_fn fn, void *arg);
/* When finder_step next has something to do. */
uint64_t finder_next_ns(const struct finder *finder);

/*
 * The process's agent was taken, and is not any more: it is looked for FINDER_AGAIN_ROUNDS later.
 */
void finder_look_later(struct finder *finder, pid_t pid);

/* The process is or becomes a JVM: it is looked into up to 30 times within about a minute. */
void finder_expect(struct finder *finder, pid_t pid, uint64_t now_ns);

#endif
