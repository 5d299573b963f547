// SPDX-License-Identifier: Apache-2.0
/* A sink that is a tree of all samples, see tree_sink.h. */
#include "sinks/tree_sink.h"

#include <errno.h>
#include <stdlib.h>

static struct tree_sink *self(struct sink *sink)
{
	return (struct tree_sink *)sink;
}

static int begin(struct sink *sink, uint64_t start_ns)
{
	self(sink)->start_ns = start_ns;
	return 0;
}

static int take(struct sink *sink, const struct named_sample *sample)
{
	struct tree_sink *const tree = self(sink);
	const struct tree_shared shared = {.tree = &tree->profile,
					   .timeline = &tree->timeline,
					   .max_name_bytes = (size_t)tree->profile.max_nodes *
							     TREE_SINK_NAME_BYTES};
	int err;

	seen_jvms_add(&tree->seen, sample->process);
	tree_share_begin(&tree->share, sample, &shared);
	err = named_sample_add(sample, tree->start_ns, &tree->profile, &tree->timeline);
	tree_share_end(&tree->share, sample, &shared);
	return err;
}

static void advance(struct sink *sink, const struct sink_progress *progress)
{
	struct profile_quality *const quality = &self(sink)->profile.quality;

	quality->lost_samples = progress->lost;
	quality->stackless_samples = progress->stackless;
}

static void free_tree(struct sink *sink)
{
	struct tree_sink *const tree = self(sink);

	seen_jvms_fini(&tree->seen);
	tree_share_fini(&tree->share);
	timeline_fini(&tree->timeline);
	profile_fini(&tree->profile);
	free(tree);
}

int tree_sink_new(struct tree_sink **ret)
{
	return tree_sink_new_of(&sample_kind_cpu, PROFILE_MAX_NODES, ret);
}

int tree_sink_new_of(const struct sample_kind *kind, uint32_t max_nodes, struct tree_sink **ret)
{
	static const struct sink_ops ops = {
		.begin = begin, .take = take, .advance = advance, .free = free_tree};
	struct tree_sink *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return -ENOMEM;
	tree->sink = (struct sink){.ops = &ops, .kind = kind, .end_ns = SINK_ENDLESS_NS};
	timeline_init(&tree->timeline, 0);
	if (profile_init(&tree->profile, max_nodes) < 0) {
		free_tree(&tree->sink);
		return -ENOMEM;
	}
	*ret = tree;
	return 0;
}
