// SPDX-License-Identifier: Apache-2.0
/* Numbers nodes anew, see store_sort.h. */
#include "store/store_sort.h"

#include "base/cleanup.h"
#include "render/graph.h"

#include <errno.h>
#include <stdlib.h>

/* Adds all nodes to the empty profile to; ids are their numbers there. */
static int add_nodes(const struct graph *graph, struct profile *to, uint32_t *ids)
{
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < graph->count; i++) {
		const uint32_t id = graph_node(graph, i);
		const struct profile_node *const node = &graph->profile->nodes[id];
		const struct frame frame = profile_frame_of(node);
		struct profile_name name;

		ids[id] = ids[node->parent]; /* of the root its own, 0 */
		if (id != PROFILE_ROOT)
			rc = profile_keep_name(to, &frame, &name);
		if (rc >= 0 && id != PROFILE_ROOT)
			rc = profile_descend(to, &name, &ids[id]);
		if (rc >= 0 && node->self > 0)
			rc = profile_count(to, ids[id], node->self);
	}
	return rc < 0 ? rc : 0;
}

/* The texts of info are to be the new profile's. */
static int move_texts(struct profile_info *info, struct profile *to)
{
	const char **const texts[] = {&info->host, &info->boot_id, &info->kernel, &info->event,
				      &info->program};
	int err = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (!*texts[i])
			continue;
		*texts[i] = intern_add_str(&to->names, *texts[i]);
		err |= !*texts[i];
	}
	for (size_t i = 0; i < PROFILE_REASONS; i++) {
		if (!info->reasons[i])
			continue;
		info->reasons[i] = intern_add_str(&to->names, info->reasons[i]);
		err |= !info->reasons[i];
	}
	return err ? -ENOMEM : 0;
}

static int take_over(struct store_sum_kind *one, struct profile *sorted, const uint32_t *ids)
{
	const int err = move_texts(&one->info, sorted);

	if (err)
		return err;
	sorted->quality = one->profile.quality;
	profile_sum(sorted);
	for (size_t i = 0; i < one->timeline.n_entries; i++)
		one->timeline.entries[i].node = ids[one->timeline.entries[i].node];
	timeline_sort(&one->timeline);
	profile_fini(&one->profile);
	one->profile = *sorted;
	*sorted = (struct profile){0};
	return 0;
}

static int sort_kind(struct store_sum_kind *one)
{
	_cleanup_free_ uint32_t *ids = calloc(one->profile.count, sizeof(*ids));
	_cleanup_(profile_fini) struct profile sorted = {0};
	struct graph graph;
	int err = ids ? graph_init(&graph, &one->profile) : -ENOMEM;

	if (err)
		return err;
	err = profile_init(&sorted, one->profile.max_nodes);
	if (!err)
		err = add_nodes(&graph, &sorted, ids);
	graph_fini(&graph);
	return err ? err : take_over(one, &sorted, ids);
}

int store_sort(struct store_sum *sum)
{
	int err = 0;

	for (size_t i = 0; !err && i < sum->n; i++)
		err = sort_kind(sum->kinds[i]);
	return err;
}
