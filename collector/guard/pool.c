// SPDX-License-Identifier: Apache-2.0
/* What each container or user has of a pool, see pool.h. */
#include "guard/pool.h"

#include <assert.h>

#define LATER_PART 32 /* of a pool */

static_assert(sizeof(uintptr_t) >= sizeof(uint64_t), "an amount is kept in the place of a pointer");

uint64_t pool_amount(const struct pool *pool, uint64_t group)
{
	return (uintptr_t)map64_find(&pool->amounts, group);
}

int pool_charge(struct pool *pool, uint64_t group, uint64_t amount)
{
	uintptr_t all;
	int err;

	if (amount == 0)
		return 0;
	all = pool_amount(pool, group) + amount;
	err = map64_put(&pool->amounts, group, (void *)all);
	pool->sum += err ? 0 : amount;
	return err;
}

void pool_release(struct pool *pool, uint64_t group, uint64_t amount)
{
	const uint64_t has = pool_amount(pool, group);
	const uint64_t given = amount < has ? amount : has;

	pool->sum -= given;
	if (given < has)
		map64_put(&pool->amounts, group, (void *)(uintptr_t)(has - given)); /* replaces */
	else
		map64_remove(&pool->amounts, group);
}

void pool_fini(struct pool *pool)
{
	map64_fini(&pool->amounts);
	*pool = (struct pool){0};
}

/* Of groups that have as much, the one with the least number. */
uint64_t pool_greediest(const struct pool *pool, uint64_t *ret_amount)
{
	uint64_t group, greediest = 0;
	size_t pos = 0;
	void *value;

	*ret_amount = 0;
	while (map64_next(&pool->amounts, &pos, &group, &value)) {
		const uint64_t amount = (uintptr_t)value;

		if (amount < *ret_amount || (amount == *ret_amount && group > greediest))
			continue;
		*ret_amount = amount;
		greediest = group;
	}
	return greediest;
}

bool pool_choose(const struct pool *pool, uint64_t newcomer, uint64_t wanted, uint64_t *ret_group)
{
	uint64_t most;

	*ret_group = pool_greediest(pool, &most);
	return most > pool_amount(pool, newcomer) + wanted;
}

bool pool_has_share(const struct pool *pool, uint64_t group, uint64_t total)
{
	return total > pool->sum && pool_amount(pool, group) < total - pool->sum;
}

bool pool_may_grow(const struct pool *pool, uint64_t group, uint64_t total)
{
	if (pool_amount(pool, group) == pool->sum)
		return pool->sum < total - total / LATER_PART;
	return pool_has_share(pool, group, total);
}
