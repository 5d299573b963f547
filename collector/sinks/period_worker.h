// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   periods that are over -> a thread that works on one after another
 * units:   bytes, nanoseconds of CLOCK_MONOTONIC
 * threads: any; work and rest run on the worker's own
 * errors:  negative errno
 * source:  none
 *
 * Life cycle: init; start; take and so on; stop; fini. The owner holds the lock for what it counts
 * itself, too. What period_worker_stop leaves behind still works, and must not be freed.
 */
#ifndef FG_SINKS_PERIOD_WORKER_H
#define FG_SINKS_PERIOD_WORKER_H

#include "base/thread.h"
#include "sinks/graph_queue.h"

struct period_work {
	void (*work)(void *arg, const struct period *period);
	void (*rest)(void *arg); /* once the period's memory is free; NULL: nothing */
};

struct period_worker {
	const struct period_work *ops;
	void *arg;
	pthread_t thread;
	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t changed;
	struct graph_queue queue;
	uint64_t dropped; /* graphs that the queue had no room for */
	bool is_closing;
};

void period_worker_init(struct period_worker *worker, size_t max_bytes);
int period_worker_start(struct period_worker *worker, const struct period_work *ops, void *arg);
/* Takes ownership of the period. Returns how many graphs were dropped. */
size_t period_worker_take(struct period_worker *worker, struct period *period);
void period_worker_set_max_bytes(struct period_worker *worker, size_t max_bytes);
bool period_worker_is_closing(struct period_worker *worker);
/* Whether a period waits, or the worker is to end. */
bool period_worker_is_awaited(struct period_worker *worker);
/* Has the thread end once no period waits. False: it has not ended by that time. */
bool period_worker_stop(struct period_worker *worker, uint64_t until_ns);
void period_worker_fini(struct period_worker *worker);

#endif
