// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what is taken of a pool and given back, by whom -> who has how much, and who makes room
 * units:   those of the pool
 * threads: one at a time
 * errors:  -ENOMEM: nothing was charged
 * source:  owner.h; dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking
 *          6(2), 1998
 *
 * A group is a container or a user of the host (owner_group). A pool that is full is not whose who
 * came first: whoever has the most of it makes room, or is refused (pool_choose). Where nothing can
 * be taken back, a group has as much as is free (pool_has_share): one group then leaves a half to
 * others, and each further one a half of what is left.
 *
 * Who has no pool of its own makes one of what there is for the choice: what there was no memory
 * for is left out of it.
 *
 * Life cycle: a zero-filled struct pool is valid and empty; charge, release and so on; fini.
 */
#ifndef FG_GUARD_POOL_H
#define FG_GUARD_POOL_H

#include "base/map64.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool {
	struct map64 amounts; /* group -> what it has */
	uint64_t sum;
};

int pool_charge(struct pool *pool, uint64_t group, uint64_t amount);
/* What is more than the group has is passed over. */
void pool_release(struct pool *pool, uint64_t group, uint64_t amount);
void pool_fini(struct pool *pool);

uint64_t pool_amount(const struct pool *pool, uint64_t group);
/* The group that has the most, and how much that is. An empty pool: 0. */
uint64_t pool_greediest(const struct pool *pool, uint64_t *ret_amount);
/*
 * The group that makes room where the newcomer wants so much more: the one that has the most.
 * False: no group has more than the newcomer then would, who is to be refused.
 */
bool pool_choose(const struct pool *pool, uint64_t newcomer, uint64_t wanted, uint64_t *ret_group);
/* Whether the group has less of a pool of that total than is free. */
bool pool_has_share(const struct pool *pool, uint64_t group, uint64_t total);
/*
 * The same where a pool grows while nobody knows who else will come: who has all that is taken may
 * take all but a thirty-second part, which stays for those who come later.
 */
bool pool_may_grow(const struct pool *pool, uint64_t group, uint64_t total);

static inline size_t pool_bytes(const struct pool *pool)
{
	return map64_bytes(&pool->amounts);
}

#endif
