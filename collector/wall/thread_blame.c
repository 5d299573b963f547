// SPDX-License-Identifier: Apache-2.0
/* Remembers whose memory did not answer, see thread_blame.h. */
#include "wall/thread_blame.h"

static int here; /* a value for a map of which only the keys count */

void thread_blame_note(struct thread_blame *blame, pid_t pid, uint64_t group, uint64_t now_ns)
{
	if (blame->groups.sum == 0)
		blame->forgotten_ns = now_ns;
	(void)map64_put(&blame->pids, (uint64_t)pid, &here);
	(void)pool_charge(&blame->groups, group, 1);
	blame->version++;
}

/* Each group once. What is removed may move a group to the front: it is found the next time. */
static void forget_one_each(struct thread_blame *blame)
{
	size_t pos = 0;
	uint64_t group;
	void *value;

	while (map64_next(&blame->groups.amounts, &pos, &group, &value))
		pool_release(&blame->groups, group, 1);
	blame->version++;
}

void thread_blame_step(struct thread_blame *blame, uint64_t now_ns)
{
	if (blame->groups.sum == 0 || now_ns < blame->forgotten_ns + THREAD_BLAME_FORGET_NS)
		return;
	blame->forgotten_ns = now_ns;
	forget_one_each(blame);
}

void thread_blame_set_crowded(struct thread_blame *blame, bool is_crowded)
{
	blame->version += is_crowded != blame->is_crowded;
	blame->is_crowded = is_crowded;
}

void thread_blame_keep(struct thread_blame *blame, const struct map64 *wanted)
{
	struct map64 kept = {0};
	size_t pos = 0;
	uint64_t pid;
	void *value;

	while (map64_next(&blame->pids, &pos, &pid, &value)) {
		if (map64_find(wanted, pid))
			(void)map64_put(&kept, pid, value);
	}
	map64_fini(&blame->pids);
	blame->pids = kept;
}

void thread_blame_fini(struct thread_blame *blame)
{
	map64_fini(&blame->pids);
	pool_fini(&blame->groups);
}

bool thread_blame_has_stacks(const struct thread_blame *blame, pid_t pid, uint64_t group)
{
	const uint64_t most = blame->is_crowded ? 1 : THREAD_BLAME_MOST;

	return !map64_find(&blame->pids, (uint64_t)pid) &&
	       pool_amount(&blame->groups, group) < most;
}
