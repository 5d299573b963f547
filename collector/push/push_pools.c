// SPDX-License-Identifier: Apache-2.0
/* Tells stacks apart by thread pool, see push_pools.h. */
#include "push/push_pools.h"

#include "base/cleanup.h"
#include "profile/pools.h"
#include "render/by_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OTHER_POOL 0u

struct named_pool {
	const char *name;
	uint64_t weight;
	uint32_t number; /* OTHER_POOL: too small for one of its own */
};

/* What a pool has in a node. */
struct share {
	uint32_t pool, node;
	uint64_t weight;
};

/* What is needed while pools are made. */
struct pooling {
	struct by_thread by_thread;
	uint32_t *pool_of;	  /* by thread: index in named */
	struct named_pool *named; /* the first is OTHER_POOL */
	size_t n_named;
	struct map64 indices; /* address of a name -> index in named + 1 */
	struct share *shares;
	size_t n_shares;
};

static void free_pooling(struct pooling *pooling)
{
	by_thread_fini(&pooling->by_thread);
	map64_fini(&pooling->indices);
	free(pooling->pool_of);
	free(pooling->named);
	free(pooling->shares);
}

static int alloc_pooling(struct pooling *pooling, uint32_t nodes)
{
	const uint32_t threads = pooling->by_thread.threads;
	const size_t entries = pooling->by_thread.first[threads];

	pooling->pool_of = calloc((size_t)threads + 1, sizeof(*pooling->pool_of));
	pooling->named = calloc((size_t)threads + 1, sizeof(*pooling->named));
	pooling->shares = malloc((entries + nodes + 1) * sizeof(*pooling->shares));
	return pooling->pool_of && pooling->named && pooling->shares ? 0 : -ENOMEM;
}

/* The index of the pool of that name, which is added if it is new. */
static int find_pool(struct pooling *pooling, struct intern *names, const char *name, uint32_t *ret)
{
	const char *const kept = intern_add_str(names, name);
	uintptr_t index = kept ? (uintptr_t)map64_find(&pooling->indices, (uintptr_t)kept) : 0;

	if (!kept)
		return -ENOMEM;
	if (index == 0) {
		pooling->named[pooling->n_named++].name = kept;
		index = pooling->n_named;
		if (map64_put(&pooling->indices, (uintptr_t)kept, (void *)index) < 0)
			return -ENOMEM;
	}
	*ret = (uint32_t)index - 1;
	return 0;
}

static int name_pools(struct pooling *pooling, struct intern *names,
		      const struct timeline *timeline)
{
	const struct by_thread *const by_thread = &pooling->by_thread;
	char name[POOL_NAME_BYTES];
	uint32_t other;
	int err = find_pool(pooling, names, TIMELINE_OTHER_THREADS, &other);

	for (uint32_t i = 0; !err && i < by_thread->threads; i++) {
		if (by_thread->first[i] == by_thread->first[i + 1])
			continue;
		pool_name(timeline->threads[i].name, name);
		err = find_pool(pooling, names, name, &pooling->pool_of[i]);
		for (uint32_t at = by_thread->first[i]; !err && at < by_thread->first[i + 1]; at++)
			pooling->named[pooling->pool_of[i]].weight += by_thread->entries[at].weight;
	}
	return err;
}

static int by_weight(const void *a, const void *b)
{
	const struct named_pool *const x = *(struct named_pool *const *)a;
	const struct named_pool *const y = *(struct named_pool *const *)b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Numbers of their own are for the heaviest pools. */
static int number_pools(struct pooling *pooling)
{
	_cleanup_free_ struct named_pool **order = calloc(pooling->n_named, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 1; i < pooling->n_named; i++)
		order[i - 1] = &pooling->named[i];
	qsort(order, pooling->n_named - 1, sizeof(*order), by_weight);
	for (uint32_t i = 0; i + 1 < pooling->n_named && i + 1 < PUSH_POOLS_MAX; i++)
		order[i]->number = i + 1;
	return 0;
}

static void add_share(struct pooling *pooling, uint32_t pool, uint32_t node, uint64_t weight)
{
	pooling->shares[pooling->n_shares++] =
		(struct share){.pool = pool, .node = node, .weight = weight};
}

static int by_pool(const void *a, const void *b)
{
	const struct share *const x = a, *const y = b;

	if (x->pool != y->pool)
		return x->pool < y->pool ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Of several shares of a pool in a node one is left. */
static void join_shares(struct pooling *pooling)
{
	size_t kept = 0;

	qsort(pooling->shares, pooling->n_shares, sizeof(*pooling->shares), by_pool);
	for (size_t i = 0; i < pooling->n_shares; i++) {
		if (kept > 0 && by_pool(&pooling->shares[kept - 1], &pooling->shares[i]) == 0)
			pooling->shares[kept - 1].weight += pooling->shares[i].weight;
		else
			pooling->shares[kept++] = pooling->shares[i];
	}
	pooling->n_shares = kept;
}

static void find_shares(struct pooling *pooling, uint32_t nodes)
{
	const struct by_thread *const by_thread = &pooling->by_thread;

	for (uint32_t i = 0; i < by_thread->threads; i++) {
		const uint32_t pool = pooling->named[pooling->pool_of[i]].number;

		for (uint32_t at = by_thread->first[i]; at < by_thread->first[i + 1]; at++)
			add_share(pooling, pool, by_thread->entries[at].node,
				  by_thread->entries[at].weight);
	}
	for (uint32_t id = 0; id < nodes; id++)
		if (by_thread->rest[id] > 0)
			add_share(pooling, OTHER_POOL, id, by_thread->rest[id]);
	join_shares(pooling);
}

static const char *name_of(const struct pooling *pooling, uint32_t number)
{
	for (size_t i = 1; number != OTHER_POOL && i < pooling->n_named; i++)
		if (pooling->named[i].number == number)
			return pooling->named[i].name;
	return pooling->named[OTHER_POOL].name;
}

static int make_pools(const struct pooling *pooling, const struct profile *profile,
		      struct push_pools *ret)
{
	ret->pools = calloc(PUSH_POOLS_MAX, sizeof(*ret->pools));
	if (!ret->pools || push_stacks_alloc(&ret->stacks, profile, pooling->n_shares) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < pooling->n_shares; i++) {
		const struct share *const share = &pooling->shares[i];

		if (i == 0 || share->pool != pooling->shares[i - 1].pool)
			ret->pools[ret->count++] = (struct push_pool){
				.name = name_of(pooling, share->pool), .first = i};
		ret->pools[ret->count - 1].n++;
		push_stacks_add(&ret->stacks, share->node, share->weight);
	}
	return 0;
}

int push_pools_init(struct push_pools *pools, const struct profile *profile,
		    const struct timeline *timeline)
{
	_cleanup_(free_pooling) struct pooling pooling = {0};
	int err = by_thread_init(&pooling.by_thread, profile, timeline, BY_THREAD_NODE);

	*pools = (struct push_pools){0};
	if (!err)
		err = alloc_pooling(&pooling, profile->count);
	if (!err)
		err = name_pools(&pooling, &pools->names, timeline);
	if (!err)
		err = number_pools(&pooling);
	if (!err) {
		find_shares(&pooling, profile->count);
		err = make_pools(&pooling, profile, pools);
	}
	if (err)
		push_pools_fini(pools);
	return err;
}

void push_pools_fini(struct push_pools *pools)
{
	intern_fini(&pools->names);
	free(pools->pools);
	push_stacks_fini(&pools->stacks);
	*pools = (struct push_pools){0};
}
