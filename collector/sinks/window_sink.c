// SPDX-License-Identifier: Apache-2.0
/* A sink that keeps the samples of the last seconds, see window_sink.h. */
#include "sinks/window_sink.h"

#include <errno.h>
#include <stdlib.h>

static struct window_sink *self(struct sink *sink)
{
	return (struct window_sink *)sink;
}

static int begin(struct sink *sink, uint64_t start_ns)
{
	struct window_sink *const window = self(sink);
	int err;

	err = window_init(&window->window, start_ns, window->seconds);
	if (!err && window->max_bytes)
		window_set_max_bytes(&window->window, window->max_bytes);
	return err;
}

/* The tree that grows. Another one is shared anew. */
static struct profile *growing_tree(struct window_sink *window)
{
	struct window_generation *const growing = &window->window.generations[0];

	if (window->shared_first != growing->first)
		tree_share_fini(&window->share);
	window->shared_first = growing->first;
	return &growing->profile;
}

static int take(struct sink *sink, const struct named_sample *sample)
{
	struct window *const window = &self(sink)->window;
	struct tree_share *const share = &self(sink)->share;
	struct timeline *const timeline = window_timeline(window, sample->time_ns);
	const struct tree_shared shared = {.tree = growing_tree(self(sink)),
					   .timeline = timeline,
					   .max_name_bytes = window_name_bytes(window)};
	struct profile_quality flaws = {0};
	struct window_sample entry = {
		.time_ns = sample->time_ns,
		.frames = sample->frames,
		.n_frames = sample->n_frames,
		.weight = sample->values[0],
		.flaws = &flaws,
	};
	int err;

	named_sample_judge(sample, &flaws);
	tree_share_begin(share, sample, &shared);
	entry.thread = named_sample_thread(sample, timeline);
	err = window_add(window, &entry);
	tree_share_end(share, sample, &shared);
	return err;
}

static void advance(struct sink *sink, const struct sink_progress *progress)
{
	struct window *const window = &self(sink)->window;

	window_advance(window, progress->until_ns);
	window_note_losses(window, progress->lost, progress->stackless);
}

static void free_window(struct sink *sink)
{
	tree_share_fini(&self(sink)->share);
	window_fini(&self(sink)->window);
	free(self(sink));
}

int window_sink_new(const struct sample_kind *kind, unsigned seconds, struct window_sink **ret)
{
	static const struct sink_ops ops = {
		.begin = begin, .take = take, .advance = advance, .free = free_window};
	struct window_sink *window = calloc(1, sizeof(*window));

	if (!window)
		return -ENOMEM;
	window->sink = (struct sink){.ops = &ops, .kind = kind, .end_ns = SINK_ENDLESS_NS};
	window->seconds = seconds;
	*ret = window;
	return 0;
}
