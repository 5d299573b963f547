// SPDX-License-Identifier: Apache-2.0
/* Shares a tree between owners of samples, see tree_share.h. */
#include "sinks/tree_share.h"

#include "process/process.h"

static uint64_t group_of(const struct named_sample *sample)
{
	return sample->process ? sample->process->group : 0;
}

void tree_share_begin(struct tree_share *share, const struct named_sample *sample,
		      const struct tree_shared *shared)
{
	const uint64_t group = group_of(sample);
	struct profile *const tree = shared->tree;
	struct timeline *const timeline = shared->timeline;

	share->nodes_before = tree->count;
	share->names_before = arena_used_bytes(&tree->names.arena);
	share->processes_before = timeline->n_processes;
	share->threads_before = timeline->n_threads;
	tree->is_closed = !pool_may_grow(&share->nodes, group, profile_most_of_stacks(tree)) ||
			  !pool_may_grow(&share->names, group, shared->max_name_bytes);
	timeline->is_closed = !pool_may_grow(&share->processes, group, TIMELINE_MAX_PROCESSES) ||
			      !pool_may_grow(&share->threads, group, TIMELINE_MAX_THREADS);
}

void tree_share_end(struct tree_share *share, const struct named_sample *sample,
		    const struct tree_shared *shared)
{
	const uint64_t group = group_of(sample);
	const struct profile *const tree = shared->tree;
	const struct timeline *const timeline = shared->timeline;

	(void)pool_charge(&share->nodes, group, tree->count - share->nodes_before);
	(void)pool_charge(&share->names, group,
			  arena_used_bytes(&tree->names.arena) - share->names_before);
	(void)pool_charge(&share->processes, group,
			  timeline->n_processes - share->processes_before);
	(void)pool_charge(&share->threads, group, timeline->n_threads - share->threads_before);
}

void tree_share_fini(struct tree_share *share)
{
	pool_fini(&share->nodes);
	pool_fini(&share->names);
	pool_fini(&share->processes);
	pool_fini(&share->threads);
}
