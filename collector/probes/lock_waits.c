// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps the stacks of waits until their ends, see lock_waits.h. Each container or user has a tree
 * of its stacks. Stacks of waits that have ended stay in the tree until it is half full, and is
 * then made anew of those that are needed.
 */
#include "probes/lock_waits.h"

#include "base/cleanup.h"
#include "base/map64.h"
#include "base/hash.h"
#include "guard/heap_bytes.h"
#include "guard/owner.h"
#include "guard/pool.h"
#include "probes/kept_stack.h"
#include "probes/probe_sample.h"
#include "process/process.h"
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>

#define SWEPT_AT_ONCE	32
#define CLOCK_ERROR_NS	1000000 /* between the JVM's reading of a wait and the kernel's */
#define ATTEMPTS	1024
#define PAYS		4 /* who makes room loses one of so many waits */
#define PURPOSE_OF_SEED UINT64_C(0x6c6f636b77616974)

/* What names a wait. The number is one that the agent gives. */
struct wait_id {
	uint64_t number;
	pid_t pid;
};

/* A container or user with waits. */
struct waiter {
	uint64_t group; /* owner_group of the processes' owner */
	size_t count;	/* of waits */
	struct profile stacks;
	uint32_t attempts; /* to keep a stack since the tree was made */
};

struct wait {
	struct wait_id id;
	struct waiter *waiter;
	uint64_t began_ns, weight;
	pid_t tid;
	struct kept_stack stack;
};

struct lock_waits {
	struct map64 waits;	   /* hash of the ID -> struct wait */
	struct map64 waiters;	   /* group -> struct waiter */
	struct pool counts, nodes; /* of all waiters: waits, and nodes of trees */
	uint64_t seed;
	size_t swept, swept_waiter; /* where the next sweep begins */
	size_t given;		    /* where lock_waits_next_open goes on */
	struct lock_waits_stats stats;
};

static struct wait_id id_of(const struct record *record)
{
	return (struct wait_id){.number = record->sample.probe.wait, .pid = record->pid};
}

static uint64_t key_of(const struct lock_waits *waits, const struct wait_id *id)
{
	return quick_hash_mix(waits->seed, id->number, (uint64_t)id->pid);
}

static bool is_same(const struct wait_id *a, const struct wait_id *b)
{
	return a->number == b->number && a->pid == b->pid;
}

int lock_waits_new(struct lock_waits **ret)
{
	struct lock_waits *const waits = calloc(1, sizeof(*waits));

	if (!waits)
		return -ENOMEM;
	waits->seed = quick_hash_seed(PURPOSE_OF_SEED);
	*ret = waits;
	return 0;
}

/* ---- waiters ---- */

static void free_waiter(void *value)
{
	struct waiter *const waiter = value;

	profile_fini(&waiter->stacks);
	free(waiter);
}

void lock_waits_free(struct lock_waits *waits)
{
	if (!waits)
		return;
	map64_fini_all(&waits->waits, free);
	map64_fini_all(&waits->waiters, free_waiter);
	pool_fini(&waits->counts);
	pool_fini(&waits->nodes);
	free(waits);
}

static struct waiter *find_or_add_waiter(struct lock_waits *waits, uint64_t group)
{
	struct waiter *waiter = map64_find(&waits->waiters, group);

	if (waiter)
		return waiter;
	waiter = calloc(1, sizeof(*waiter));
	if (!waiter)
		return NULL;
	waiter->group = group;
	if (map64_put(&waits->waiters, group, waiter) == 0)
		return waiter;
	free(waiter);
	return NULL;
}

/* The waiter's tree has so many nodes now. Without memory too few are counted. */
static void count_nodes(struct lock_waits *waits, const struct waiter *waiter)
{
	const uint64_t before = pool_amount(&waits->nodes, waiter->group);
	const uint64_t now = waiter->stacks.nodes ? waiter->stacks.count : 0;

	if (now > before)
		(void)pool_charge(&waits->nodes, waiter->group, now - before);
	else
		pool_release(&waits->nodes, waiter->group, before - now);
}

static void set_stacks(struct lock_waits *waits, struct waiter *waiter, struct profile stacks)
{
	profile_fini(&waiter->stacks);
	waiter->stacks = stacks;
	waiter->attempts = 0;
	count_nodes(waits, waiter);
}

/* Puts all stacks that are needed into another tree. */
static int move_stacks(struct lock_waits *waits, struct waiter *waiter, struct profile *to)
{
	_cleanup_free_ uint32_t *map = calloc(waiter->stacks.count, sizeof(*map));
	size_t pos = 0;
	uint64_t key;
	void *value;
	int err;

	if (!map)
		return -ENOMEM;
	while (map64_next(&waits->waits, &pos, &key, &value)) {
		const struct wait *const wait = value;

		if (wait->waiter == waiter)
			map[wait->stack.node] = 1;
	}
	err = kept_stack_copy(&waiter->stacks, to, map);
	if (err)
		return err;
	pos = 0;
	while (map64_next(&waits->waits, &pos, &key, &value)) {
		struct wait *const wait = value;

		if (wait->waiter == waiter)
			wait->stack.node = map[wait->stack.node];
	}
	return 0;
}

/* Makes the tree anew of what is needed. Without memory it stays as it is. */
static void renew_stacks(struct lock_waits *waits, struct waiter *waiter)
{
	struct profile stacks;

	if (profile_init(&stacks, LOCK_WAITS_WAITER_NODES) < 0)
		return;
	if (waiter->stacks.nodes && waiter->count > 0 && move_stacks(waits, waiter, &stacks) < 0)
		profile_fini(&stacks);
	else
		set_stacks(waits, waiter, stacks);
}

/* That takes time, and so is done seldom. */
static void renew_if_due(struct lock_waits *waits, struct waiter *waiter)
{
	const bool is_short = waiter->stacks.count >= LOCK_WAITS_WAITER_NODES / 2 ||
			      waits->nodes.sum >= LOCK_WAITS_MAX_NODES;

	waiter->attempts++;
	if (!waiter->stacks.nodes ||
	    (is_short && (waiter->count == 0 || waiter->attempts >= ATTEMPTS)))
		renew_stacks(waits, waiter);
}

/* ---- waits ---- */

static void remove_wait(struct lock_waits *waits, uint64_t key)
{
	struct wait *const wait = map64_remove(&waits->waits, key);

	if (!wait)
		return;
	pool_release(&waits->counts, wait->waiter->group, 1);
	wait->waiter->count--;
	free(wait);
}

/* The waiter makes room for others: some of its waits are left out, with their stacks. */
static void cut(struct lock_waits *waits, struct waiter *waiter)
{
	const size_t most = waiter->count / PAYS + 1;
	_cleanup_free_ uint64_t *keys = calloc(most, sizeof(*keys));
	size_t pos = 0, n = 0;
	uint64_t key;
	void *value;

	while (keys && n < most && map64_next(&waits->waits, &pos, &key, &value)) {
		if (((const struct wait *)value)->waiter == waiter)
			keys[n++] = key;
	}
	for (size_t i = 0; i < n; i++)
		remove_wait(waits, keys[i]);
	waits->stats.left_out += n;
	renew_stacks(waits, waiter);
}

/* Whether there is room in a pool. If there is none, who has the most makes some. */
static bool make_room(struct lock_waits *waits, const struct pool *pool, uint64_t limit,
		      const struct waiter *newcomer)
{
	struct waiter *payer;
	uint64_t group;

	if (pool->sum < limit)
		return true;
	if (!pool_choose(pool, newcomer->group, 1, &group))
		return false;
	payer = map64_find(&waits->waiters, group);
	if (payer)
		cut(waits, payer);
	return pool->sum < limit;
}

static int keep_stack(struct lock_waits *waits, struct waiter *waiter,
		      const struct named_sample *sample, struct kept_stack *ret)
{
	int err;

	renew_if_due(waits, waiter);
	if (!waiter->stacks.nodes)
		return -ENOMEM;
	if (!make_room(waits, &waits->nodes, LOCK_WAITS_MAX_NODES, waiter))
		return -ENOSPC;
	err = kept_stack_keep(&waiter->stacks, sample, ret);
	count_nodes(waits, waiter);
	return err;
}

static int add_wait(struct lock_waits *waits, uint64_t key, const struct wait *wait)
{
	struct wait *const kept = malloc(sizeof(*kept));
	int err = kept ? pool_charge(&waits->counts, wait->waiter->group, 1) : -ENOMEM;

	if (!err) {
		*kept = *wait;
		err = map64_put(&waits->waits, key, kept);
		if (err)
			pool_release(&waits->counts, wait->waiter->group, 1);
	}
	if (err)
		free(kept);
	else
		wait->waiter->count++;
	return err;
}

/* 0, or negative: the wait is left out. */
static int keep(struct lock_waits *waits, const struct record *record,
		const struct named_sample *sample)
{
	const uint64_t group =
		sample->process ? owner_group(sample->process->owner) : (uint64_t)record->pid;
	struct wait wait = {.id = id_of(record),
			    .waiter = find_or_add_waiter(waits, group),
			    .began_ns = record->time_ns,
			    .weight = record->sample.weight,
			    .tid = record->tid};
	const uint64_t key = key_of(waits, &wait.id);
	int err;

	remove_wait(waits, key); /* a number that came twice: the first one's end was lost */
	if (!wait.waiter)
		return -ENOMEM;
	if (!make_room(waits, &waits->counts, LOCK_WAITS_MAX, wait.waiter))
		return -ENOSPC;
	err = keep_stack(waits, wait.waiter, sample, &wait.stack);
	return err ? err : add_wait(waits, key, &wait);
}

void lock_waits_begin(struct lock_waits *waits, const struct record *record,
		      const struct named_sample *sample)
{
	waits->stats.left_out += keep(waits, record, sample) < 0;
}

/* Gives the wait out as a sample. */
static void give(const struct wait *wait, uint64_t end_ns, uint64_t duration_ns,
		 struct named_sample *ret)
{
	*ret = (struct named_sample){
		.kind = &sample_kind_lock,
		.values = {probe_sample_microseconds(duration_ns, wait->weight, end_ns),
			   wait->weight},
		.time_ns = end_ns,
		.span_ns = duration_ns,
		.state = THREAD_BLOCKED,
		.pid = wait->id.pid,
		.tid = wait->tid,
	};
	kept_stack_give(&wait->waiter->stacks, &wait->stack, ret);
}

bool lock_waits_end(struct lock_waits *waits, const struct record *record, struct process *process,
		    struct named_sample *ret)
{
	const struct wait_id id = id_of(record);
	const uint64_t key = key_of(waits, &id);
	const struct wait *const wait = map64_find(&waits->waits, key);
	uint64_t duration_ns = record->sample.probe.amount, seen_ns;

	if (!wait || !is_same(&wait->id, &id)) {
		waits->stats.unmatched++;
		return false;
	}
	/* What the JVM says is exact; what cannot be true is what the kernel has seen. */
	seen_ns = record->time_ns > wait->began_ns ? record->time_ns - wait->began_ns : 0;
	if (duration_ns > seen_ns + CLOCK_ERROR_NS)
		duration_ns = seen_ns;
	give(wait, record->time_ns, duration_ns, ret);
	ret->process = process;
	remove_wait(waits, key);
	return true;
}

bool lock_waits_next_open(struct lock_waits *waits, uint64_t now_ns, struct named_sample *ret)
{
	const struct wait *wait;
	uint64_t key;
	void *value;

	/* What is removed moves others to the front at most: another round finds these. */
	if (!map64_next(&waits->waits, &waits->given, &key, &value)) {
		waits->given = 0;
		if (!map64_next(&waits->waits, &waits->given, &key, &value))
			return false;
	}
	wait = value;
	give(wait, now_ns, now_ns > wait->began_ns ? now_ns - wait->began_ns : 0, ret);
	remove_wait(waits, key);
	return true;
}

/* Forgets one waiter without waits at most. */
static void sweep_waiter(struct lock_waits *waits)
{
	uint64_t group;
	void *value;

	if (!map64_next(&waits->waiters, &waits->swept_waiter, &group, &value)) {
		waits->swept_waiter = 0;
		return;
	}
	if (((const struct waiter *)value)->count > 0)
		return;
	map64_remove(&waits->waiters, group);
	pool_release(&waits->nodes, group, pool_amount(&waits->nodes, group));
	free_waiter(value);
}

void lock_waits_sweep(struct lock_waits *waits, bool (*is_gone)(const void *arg, pid_t pid),
		      const void *arg)
{
	uint64_t key;
	void *value;

	sweep_waiter(waits);
	for (int i = 0; i < SWEPT_AT_ONCE; i++) {
		const struct wait *wait;

		if (!map64_next(&waits->waits, &waits->swept, &key, &value)) {
			waits->swept = 0;
			return;
		}
		wait = value;
		if (!is_gone(arg, wait->id.pid))
			continue;
		remove_wait(waits, key);
		waits->stats.forgotten++;
	}
}

void lock_waits_stats(const struct lock_waits *waits, struct lock_waits_stats *ret)
{
	*ret = waits->stats;
}

size_t lock_waits_bytes(const struct lock_waits *waits)
{
	size_t bytes = heap_bytes(sizeof(*waits)) + map64_bytes(&waits->waits) +
		       map64_bytes(&waits->waiters) + pool_bytes(&waits->counts) +
		       pool_bytes(&waits->nodes) +
		       waits->waits.count * heap_bytes(sizeof(struct wait));
	size_t pos = 0;
	uint64_t group;
	void *value;

	while (map64_next(&waits->waiters, &pos, &group, &value)) {
		const struct waiter *const waiter = value;

		bytes += heap_bytes(sizeof(*waiter)) +
			 (waiter->stacks.nodes ? profile_bytes(&waiter->stacks) : 0);
	}
	return bytes;
}
