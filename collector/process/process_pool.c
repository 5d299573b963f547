// SPDX-License-Identifier: Apache-2.0
/* Shares the places of processes, see process_pool.h. */
#include "process/process_pool.h"

void process_pool_fini(struct process_pool *pool)
{
	pool_fini(&pool->owners);
}

void process_pool_set(struct process_pool *pool, struct process *process, struct owner owner)
{
	const uint64_t group = owner_group(owner);

	process->owner = owner;
	if (process->has_place && process->group == group)
		return;
	if (pool_charge(&pool->owners, group, 1) < 0)
		return;
	process_pool_leave(pool, process);
	process->group = group;
	process->has_place = true;
}

void process_pool_own(struct process_pool *pool, struct process *process)
{
	const struct owner owner = process_owner(process);

	if (owner.user != OWNER_NOBODY || !process->has_place)
		process_pool_set(pool, process, owner);
}

void process_pool_leave(struct process_pool *pool, const struct process *process)
{
	if (process->has_place)
		pool_release(&pool->owners, process->group, 1);
}

/* Whether samples will bring it back, and nothing else is lost. */
static bool is_passed_by(const struct process *process)
{
	return !process->jvm && process->users == 0;
}

/* A process of the group. The search goes on where the last one ended, so that many are short. */
static struct process *find_of_group(struct process_pool *pool, const struct map64 *processes,
				     uint64_t group)
{
	struct process *second = NULL;
	uint64_t key;
	void *value;

	for (size_t n = 0; n <= processes->count; n++) {
		struct process *process = NULL;

		if (map64_next(processes, &pool->pos, &key, &value))
			process = value;
		else
			pool->pos = 0;
		if (!process || process->group != group)
			continue;
		if (is_passed_by(process))
			return process;
		if (!second || !process->jvm)
			second = process;
	}
	return second;
}

bool process_pool_has_room(struct process_pool *pool, const struct map64 *processes,
			   struct owner newcomer, struct process **ret_payer)
{
	uint64_t group;

	*ret_payer = NULL;
	if (processes->count < pool->max)
		return true;
	if (pool_choose(&pool->owners, owner_group(newcomer), 1, &group))
		*ret_payer = find_of_group(pool, processes, group);
	pool->refused += !*ret_payer;
	pool->evicted += *ret_payer != NULL;
	return *ret_payer != NULL;
}
