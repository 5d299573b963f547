// SPDX-License-Identifier: Apache-2.0
/* The samples of the last seconds, see window.h. */
#include "profile/window.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
/* Room for both generations and for a profile's [overflow] nodes, so that a copy is never cut. */
#define COPY_MAX_NODES (3 * WINDOW_MAX_NODES)
#define OVERFLOW_NAME  "[overflow]"
#define NODE_BYTES     64 /* with its part of the index */

/* The number of seconds of which the window has a part. */
static unsigned slots(const struct window *window)
{
	return window->seconds + 1;
}

static uint32_t lesser_of(uint64_t a, uint32_t b)
{
	return a < b ? (uint32_t)a : b;
}

/* A quarter of the window's memory: half of a generation's. */
static uint64_t part_of(const struct window *window)
{
	return window->max_bytes ? window->max_bytes / 4 : UINT64_MAX;
}

static uint32_t max_nodes(const struct window *window)
{
	return lesser_of(part_of(window) / NODE_BYTES, WINDOW_MAX_NODES);
}

static uint32_t max_entries(const struct window *window)
{
	return lesser_of(part_of(window) / 2 / sizeof(struct timeline_entry), WINDOW_MAX_ENTRIES);
}

size_t window_name_bytes(const struct window *window)
{
	return lesser_of(part_of(window) / 2, WINDOW_MAX_NAME_BYTES);
}

static int generation_init(const struct window *window, struct window_generation *generation,
			   uint64_t first)
{
	generation->first = first;
	timeline_init(&generation->timeline, max_entries(window));
	return profile_init(&generation->profile, max_nodes(window));
}

void window_set_max_bytes(struct window *window, size_t bytes)
{
	struct window_generation *const growing = &window->generations[0];
	struct profile *const profile = &growing->profile;
	struct timeline *const timeline = &growing->timeline;

	window->max_bytes = bytes;
	profile->max_nodes = max_nodes(window);
	if (profile->max_nodes < profile->count)
		profile->max_nodes = profile->count;
	timeline->max_entries = max_entries(window);
	if (timeline->max_entries < timeline->n_entries)
		timeline->max_entries = timeline->n_entries;
}

size_t window_bytes(const struct window *window)
{
	size_t bytes = slots(window) * sizeof(*window->ring);

	for (int i = 0; i < 2; i++)
		bytes += profile_bytes(&window->generations[i].profile) +
			 timeline_bytes(&window->generations[i].timeline);
	return bytes;
}

static void generation_fini(struct window_generation *generation)
{
	profile_fini(&generation->profile);
	timeline_fini(&generation->timeline);
}

int window_init(struct window *window, uint64_t start_ns, unsigned seconds)
{
	int err = 0;

	*window = (struct window){.start_ns = start_ns, .now_ns = start_ns, .seconds = seconds};
	window->ring = calloc(slots(window), sizeof(*window->ring));
	for (int i = 0; !err && i < 2; i++)
		err = generation_init(window, &window->generations[i], 0);
	if (!window->ring || err) {
		window_fini(window);
		return -ENOMEM;
	}
	return 0;
}

void window_fini(struct window *window)
{
	for (int i = 0; i < 2; i++)
		generation_fini(&window->generations[i]);
	free(window->ring);
	*window = (struct window){0};
}

static uint64_t newest(const struct window *window)
{
	return (window->now_ns - window->start_ns) / SECOND_NS;
}

static uint64_t oldest(const struct window *window)
{
	const uint64_t last = newest(window);

	return last > window->seconds ? last - window->seconds : 0;
}

/* The newest second. A slot that still holds a second outside of the window is emptied first. */
static struct window_second *second_now(struct window *window)
{
	const uint64_t number = newest(window);
	struct window_second *second = &window->ring[number % slots(window)];

	if (second->number != number)
		*second = (struct window_second){.number = number};
	return second;
}

/* Starts a new generation when the growing one has been filled for the window's length. */
static void turn(struct window *window)
{
	struct window_generation *const all = window->generations;
	const uint64_t number = newest(window);
	struct window_generation fresh = {0};

	if (number < all[0].first + slots(window))
		return;
	if (generation_init(window, &fresh, number) < 0)
		return; /* the old generation has a limit of its own, and goes on */
	generation_fini(&all[1]);
	all[1] = all[0];
	all[0] = fresh;
}

void window_advance(struct window *window, uint64_t now_ns)
{
	if (now_ns <= window->now_ns)
		return;
	window->now_ns = now_ns;
	turn(window);
}

struct timeline *window_timeline(struct window *window, uint64_t time_ns)
{
	window_advance(window, time_ns);
	return &window->generations[0].timeline;
}

/*
 * Adds the stack and finds its leaf. If names have used up their room, the stack counts as
 * [overflow].
 */
static int add_stack(struct window *window, const struct window_sample *sample, uint32_t *ret)
{
	static const struct frame overflow = {.name = OVERFLOW_NAME, .kind = FRAME_LABEL};
	struct profile *profile = &window->generations[0].profile;

	if (profile->names.arena.total_bytes < window_name_bytes(window))
		return profile_add_leaf(profile, sample->frames, sample->n_frames, sample->weight,
					ret);
	profile->quality.overflow_samples += sample->weight;
	return profile_add_leaf(profile, &overflow, 1, sample->weight, ret);
}

static void add_flaws(struct profile_quality *to, const struct profile_quality *flaws)
{
	to->unnamed_samples += flaws->unnamed_samples;
	to->unnamed_java_samples += flaws->unnamed_java_samples;
	to->unrooted_samples += flaws->unrooted_samples;
	to->heapless_samples += flaws->heapless_samples;
	for (size_t i = 0; i < PROFILE_REASONS; i++)
		to->truncated_samples[i] += flaws->truncated_samples[i];
}

int window_add(struct window *window, const struct window_sample *sample)
{
	struct profile *profile = &window->generations[0].profile;
	struct timeline *timeline = &window->generations[0].timeline;
	const struct profile_quality before = profile->quality;
	const uint64_t untimed = timeline->lost_samples;
	const uint64_t first_ns = window->start_ns + window->generations[0].first * SECOND_NS;
	struct timeline_entry entry = {.thread = sample->thread};
	struct window_second *second = second_now(window);
	const int err = add_stack(window, sample, &entry.node);

	if (err < 0) {
		second->quality.lost_samples++;
		return err;
	}
	timeline_add_weight(timeline, sample->time_ns > first_ns ? sample->time_ns - first_ns : 0,
			    &entry, sample->weight);
	second->untimed += timeline->lost_samples - untimed;
	second->quality.samples += sample->weight;
	second->quality.unnamed_samples +=
		profile->quality.unnamed_samples - before.unnamed_samples;
	second->quality.overflow_samples +=
		profile->quality.overflow_samples - before.overflow_samples;
	add_flaws(&second->quality, sample->flaws);
	return 0;
}

void window_note_losses(struct window *window, uint64_t lost, uint64_t stackless)
{
	struct profile_quality *quality = &second_now(window)->quality;

	quality->lost_samples += lost - window->lost;
	quality->stackless_samples += stackless - window->stackless;
	window->lost = lost;
	window->stackless = stackless;
}

void window_sum(const struct window *window, struct window_copy *ret)
{
	const uint64_t first = oldest(window);

	*ret = (struct window_copy){
		.covered_ns = window->now_ns - window->start_ns - first * SECOND_NS,
	};
	for (unsigned i = 0; i < slots(window); i++) {
		const struct window_second *second = &window->ring[i];
		const struct profile_quality *quality = &second->quality;

		if (second->number < first)
			continue;
		ret->timeline.lost_samples += second->untimed;
		ret->quality.samples += quality->samples;
		ret->quality.lost_samples += quality->lost_samples;
		ret->quality.stackless_samples += quality->stackless_samples;
		ret->quality.overflow_samples += quality->overflow_samples;
		add_flaws(&ret->quality, quality);
	}
}

/* Whether an entry of the generation lies in the window. */
static bool is_inside(const struct window *window, const struct window_generation *generation,
		      const struct timeline_entry *entry)
{
	const uint64_t end_ns = (entry->bucket + UINT64_C(1)) * generation->timeline.bucket_ns;

	return generation->first * SECOND_NS + end_ns > oldest(window) * SECOND_NS;
}

/* Sets ret to 1 for nodes that have an entry of the window at or below them. */
static void mark_nodes(const struct window *window, const struct window_generation *generation,
		       uint32_t *ret)
{
	const struct profile_node *nodes = generation->profile.nodes;
	const struct timeline *timeline = &generation->timeline;

	for (size_t i = 0; i < timeline->n_entries; i++) {
		if (is_inside(window, generation, &timeline->entries[i]))
			ret[timeline->entries[i].node] = 1;
	}
	for (uint32_t id = generation->profile.count - 1; id > PROFILE_ROOT; id--)
		ret[nodes[id].parent] |= ret[id];
}

/* Copies the marked nodes, and replaces the marks in ids by the numbers in the copy. */
static int copy_nodes(const struct profile *from, uint32_t *ids, struct profile *to)
{
	ids[PROFILE_ROOT] = PROFILE_ROOT;
	for (uint32_t id = PROFILE_ROOT + 1; id < from->count; id++) {
		const struct profile_node *node = &from->nodes[id];
		const struct frame frame = profile_frame_of(node);
		struct profile_name name;
		uint32_t at = ids[node->parent];

		if (!ids[id])
			continue;
		if (profile_keep_name(to, &frame, &name) < 0 || profile_descend(to, &name, &at) < 0)
			return -ENOMEM;
		ids[id] = at;
	}
	return 0;
}

/*
 * The thread of to for a thread of from. numbers keeps results, because most entries have few
 * threads.
 */
static uint32_t copy_thread(const struct timeline *from, uint32_t number, uint32_t *numbers,
			    struct timeline *to)
{
	struct timeline_thread thread = from->threads[number];

	if (!numbers[number]) {
		thread.process = timeline_process(to, &from->processes[thread.process]);
		numbers[number] = timeline_thread(to, &thread) + 1;
	}
	return numbers[number] - 1;
}

static int copy_entries(const struct window *window, const struct window_generation *generation,
			const uint32_t *ids, struct window_copy *ret)
{
	const struct timeline *timeline = &generation->timeline;
	uint32_t *numbers = calloc(timeline->n_threads + 1, sizeof(*numbers));

	for (size_t i = 0; numbers && i < timeline->n_entries; i++) {
		struct timeline_entry entry = timeline->entries[i];

		if (!is_inside(window, generation, &entry))
			continue;
		entry.thread = copy_thread(timeline, entry.thread, numbers, &ret->timeline);
		entry.node = ids[entry.node];
		profile_count(&ret->profile, entry.node, entry.weight);
		timeline_add(&ret->timeline, 0, &entry);
	}
	free(numbers);
	return numbers ? 0 : -ENOMEM;
}

static int copy_generation(const struct window *window, const struct window_generation *generation,
			   struct window_copy *ret)
{
	uint32_t *ids = calloc(generation->profile.count, sizeof(*ids));
	int err = -ENOMEM;

	if (ids) {
		mark_nodes(window, generation, ids);
		err = copy_nodes(&generation->profile, ids, &ret->profile);
	}
	if (!err)
		err = copy_entries(window, generation, ids, ret);
	free(ids);
	return err;
}

int window_copy(const struct window *window, struct window_copy *ret)
{
	uint64_t untimed;
	int err;

	window_sum(window, ret);
	untimed = ret->timeline.lost_samples;
	timeline_init(&ret->timeline, 2 * WINDOW_MAX_ENTRIES);
	ret->timeline.lost_samples = untimed;
	err = profile_init(&ret->profile, COPY_MAX_NODES);
	for (int i = 0; !err && i < 2; i++)
		err = copy_generation(window, &window->generations[i], ret);
	if (err) {
		window_copy_fini(ret);
		return err;
	}
	profile_sum(&ret->profile);
	ret->profile.quality = ret->quality;
	timeline_sort(&ret->timeline);
	return 0;
}

void window_copy_fini(struct window_copy *copy)
{
	profile_fini(&copy->profile);
	timeline_fini(&copy->timeline);
	*copy = (struct window_copy){0};
}
