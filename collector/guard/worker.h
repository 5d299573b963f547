// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   work that nobody waits for -> the work is done, one task after the other
 * units:   tasks
 * threads: one owner; tasks run on a thread of their own, which is made for the first of them
 * errors:  none; without a thread the owner runs the task itself
 * source:  pthreads(7)
 *
 * The kernel takes tens of milliseconds for some calls, such as those that end a perf event. The
 * loop must not wait for them. Tasks run in the order in which they were added, so that a task
 * that opens something comes after all that close something.
 */
#ifndef FG_GUARD_WORKER_H
#define FG_GUARD_WORKER_H

#include <stddef.h>
#include <stdint.h>

/* A member of a larger structure, which run may free. */
struct worker_task {
	void (*run)(struct worker_task *task);
	struct worker_task *next;
};

struct worker; /* opaque */

struct worker_stats {
	uint64_t added;
	size_t waiting; /* tasks that have not ended */
	uint64_t here;	/* run by the owner, because there was no thread */
};

int worker_new(struct worker **ret);
/* Waits for the end of all tasks. NULL is legal. */
void worker_free(struct worker *worker);

/* Until the task has run, task belongs to the thread. */
void worker_add(struct worker *worker, struct worker_task *task);
/* Waits for the end of all tasks that have been added. */
void worker_wait(struct worker *worker);

void worker_stats(struct worker *worker, struct worker_stats *ret);

#endif
