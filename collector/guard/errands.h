// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   work that nobody waits for -> the work is done, one errand after the other
 * units:   errands
 * threads: one owner; errands run on a thread of their own, which is made for the first of them
 * errors:  none; without a thread the owner runs the errand itself
 * source:  pthreads(7)
 *
 * The kernel takes tens of milliseconds for some calls, such as those that end a perf event. The
 * loop must not wait for them. Errands run in the order in which they were added, so that an errand
 * that opens something comes after all that close something.
 */
#ifndef FG_GUARD_ERRANDS_H
#define FG_GUARD_ERRANDS_H

#include <stddef.h>
#include <stdint.h>

/* A member of a larger structure, which run may free. */
struct errand {
	void (*run)(struct errand *errand);
	struct errand *next;
};

struct errands; /* opaque */

struct errands_stats {
	uint64_t added;
	size_t waiting; /* errands that have not ended */
	uint64_t here;	/* run by the owner, because there was no thread */
};

int errands_new(struct errands **ret);
/* Waits for the end of all errands. NULL is legal. */
void errands_free(struct errands *errands);

/* Until the errand has run, errand belongs to the thread. */
void errands_add(struct errands *errands, struct errand *errand);
/* Waits for the end of all errands that have been added. */
void errands_wait(struct errands *errands);

void errands_stats(struct errands *errands, struct errands_stats *ret);

#endif
