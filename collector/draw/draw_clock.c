// SPDX-License-Identifier: Apache-2.0
/* Turns nanoseconds of perf's clocks into time, see draw_clock.h. */
#include "draw/draw_clock.h"

#include <string.h>

#define LEAST_PERIOD 5000 /* 200,000 samples a second; the kernel's limit is half of that */
#define NS_PER_US    1000

static bool is_clock(const char *event)
{
	static const char *const clocks[] = {"cpu-clock", "task-clock"};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		const size_t len = strlen(clocks[i]);

		if (strncmp(event, clocks[i], len) == 0 && (!event[len] || event[len] == ':'))
			return true;
	}
	return false;
}

bool draw_clock_is_time(const struct draw_input *input)
{
	const struct profile *const profile = &input->profile;

	if (!input->has_periods || !is_clock(input->event) || input->next ||
	    input->before.quality.samples > 0 || !input->kind.name ||
	    !profile_kind_is_same(&input->kind, &profile_kind_cpu))
		return false;
	for (uint32_t i = 0; i < profile->count; i++) {
		if (profile->nodes[i].self > 0 && profile->nodes[i].self < LEAST_PERIOD)
			return false;
	}
	return profile->quality.samples > 0;
}

/* Rounded half up; never 0, because what was sampled is there. */
static uint64_t in_us(uint64_t ns)
{
	const uint64_t us = ns / NS_PER_US + (ns % NS_PER_US >= NS_PER_US / 2);

	return us ? us : 1;
}

/* Counts of the quality that are weights; those of single samples stay. */
static void scale_quality(struct profile_quality *quality)
{
	uint64_t *const weights[] = {&quality->unnamed_samples, &quality->unnamed_java_samples,
				     &quality->unrooted_samples, &quality->heapless_samples,
				     &quality->overflow_samples};

	for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++)
		*weights[i] /= NS_PER_US;
	for (size_t i = 0; i < PROFILE_REASONS; i++)
		quality->truncated_samples[i] /= NS_PER_US;
}

void draw_clock_make_time(struct draw_input *input)
{
	struct profile *const profile = &input->profile;
	struct timeline *const timeline = &input->recording.timeline;

	profile->quality.samples = 0;
	for (uint32_t i = 0; i < profile->count; i++) {
		struct profile_node *const node = &profile->nodes[i];

		node->self = node->self ? in_us(node->self) : 0;
		profile->quality.samples += node->self;
	}
	profile_sum(profile);
	scale_quality(&profile->quality);
	for (size_t i = 0; i < timeline->n_entries; i++) {
		struct timeline_entry *const entry = &timeline->entries[i];

		entry->weight = entry->weight ? (uint32_t)in_us(entry->weight) : 0;
	}
	timeline->lost_samples /= NS_PER_US;
	input->kind = (struct profile_kind){profile_kind_cpu.name, PROFILE_UNIT_MICROSECONDS};
	input->has_periods = false;
}
