// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   all processes that are known -> whose each is, and which one makes room for another
 * units:   processes
 * threads: the model's
 * errors:  none; who is refused or makes room is counted
 * source:  guard/pool.h
 *
 * Each process that is known has a place. When there are no more, a process is forgotten of the
 * container or user that has the most, first one without a JVM that nobody has asked for by its
 * PID. If that is the newcomer's own, the newcomer is refused.
 */
#ifndef FG_PROCESS_PROCESS_POOL_H
#define FG_PROCESS_PROCESS_POOL_H

#include "base/map64.h"
#include "guard/pool.h"
#include "process/process.h"

struct process_pool {
	struct pool owners; /* how many processes each owner has */
	size_t max;
	size_t pos;	  /* in the table of processes, where the next search begins */
	uint64_t refused; /* newcomers */
	uint64_t evicted; /* processes that have made room */
};

void process_pool_fini(struct process_pool *pool);

/*
 * The process is of that owner from now on. The first time gives it its place. Without memory it
 * stays charged for its owner before.
 */
void process_pool_set(struct process_pool *pool, struct process *process, struct owner owner);
/* Asks the kernel for the owner. What has ended meanwhile stays whose it was. */
void process_pool_own(struct process_pool *pool, struct process *process);
void process_pool_leave(struct process_pool *pool, const struct process *process);

/*
 * Whether there is a place for one more process of the newcomer's, in a table of PID -> struct
 * process. *ret_payer: the process that has to be forgotten for it, or NULL.
 */
bool process_pool_has_room(struct process_pool *pool, const struct map64 *processes,
			   struct owner newcomer, struct process **ret_payer);

#endif
