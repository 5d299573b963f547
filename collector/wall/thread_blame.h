// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   processes whose memory has not answered a tick -> processes that are read without stacks
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  none; without memory a process is not blamed
 * source:  none
 *
 * Such a process has no stacks any more, as long as it is wanted. A tick that stands still holds up
 * all others' for THREAD_CLOCK_LATE_NS, so a container or user (a group, see guard/owner.h) whose
 * processes have done so THREAD_BLAME_MOST times has no stacks at all. Each minute one time of each
 * group is forgotten. A zero-filled struct thread_blame is valid.
 */
#ifndef FG_WALL_THREAD_BLAME_H
#define FG_WALL_THREAD_BLAME_H

#include "base/map64.h"
#include "guard/pool.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define THREAD_BLAME_MOST      4u
#define THREAD_BLAME_FORGET_NS UINT64_C(60000000000)

struct thread_blame {
	struct map64 pids;     /* of processes */
	struct pool groups;    /* how often each, lately */
	uint64_t forgotten_ns; /* when it was last forgotten; 0: never */
	uint64_t version;      /* changes with each answer of thread_blame_has_stacks */
	bool is_crowded;       /* one time is enough */
};

void thread_blame_note(struct thread_blame *blame, pid_t pid, uint64_t group, uint64_t now_ns);
/* Forgets what is due; to be called now and then. */
void thread_blame_step(struct thread_blame *blame, uint64_t now_ns);
/* Whether threads are scarce that have not returned. */
void thread_blame_set_crowded(struct thread_blame *blame, bool is_crowded);
/* Forgets processes that are not in a map PID -> anything. Their groups stay blamed. */
void thread_blame_keep(struct thread_blame *blame, const struct map64 *wanted);
void thread_blame_fini(struct thread_blame *blame);

bool thread_blame_has_stacks(const struct thread_blame *blame, pid_t pid, uint64_t group);

#endif
