// SPDX-License-Identifier: Apache-2.0
/* Shares a tree between owners of samples, see tree_share.h. */
#include "sinks/tree_share.h"

#include "process/process.h"

static uint64_t group_of(const struct named_sample *sample)
{
	return sample->process ? sample->process->group : 0;
}

/* Who has the pool for itself may take all of it. */
static bool has_share(const struct pool *pool, uint64_t group, uint64_t total)
{
	if (pool_amount(pool, group) == pool->sum)
		return pool->sum < total;
	return pool_has_share(pool, group, total);
}

void tree_share_begin(struct tree_share *share, const struct named_sample *sample,
		      size_t max_name_bytes, struct profile *tree)
{
	const uint64_t group = group_of(sample);

	share->nodes_before = tree->count;
	share->names_before = arena_used_bytes(&tree->names.arena);
	tree->is_closed = !has_share(&share->nodes, group, tree->max_nodes) ||
			  !has_share(&share->names, group, max_name_bytes);
}

void tree_share_end(struct tree_share *share, const struct named_sample *sample,
		    const struct profile *tree)
{
	const uint64_t group = group_of(sample);

	(void)pool_charge(&share->nodes, group, tree->count - share->nodes_before);
	(void)pool_charge(&share->names, group,
			  arena_used_bytes(&tree->names.arena) - share->names_before);
}

void tree_share_fini(struct tree_share *share)
{
	pool_fini(&share->nodes);
	pool_fini(&share->names);
}
