// SPDX-License-Identifier: Apache-2.0
/* Lists the counters of pushing, see push_list.h. */
#include "inspect/push_list.h"

#include <stddef.h>
#include <stdio.h>

static void put_count(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

/* The number of each target, by the target's URL. */
static void put_by_target(json_t *object, const char *key, const struct push_stats *push,
			  size_t offset)
{
	json_t *const numbers = json_object();

	for (size_t i = 0; i < push->n_targets; i++) {
		const struct push_target_stats *const target = &push->targets[i];

		put_count(numbers, target->name,
			  *(const uint64_t *)((const char *)target + offset));
	}
	json_object_set_new(object, key, numbers);
}

static void put_amounts(json_t *object, const char *name, const struct push_stats *push,
			size_t offset)
{
	char key[64];

	snprintf(key, sizeof(key), "profiles_%s", name);
	put_by_target(object, key, push, offset + offsetof(struct push_amount, profiles));
	snprintf(key, sizeof(key), "samples_%s", name);
	put_by_target(object, key, push, offset + offsetof(struct push_amount, samples));
}

static void put_skew(json_t *object, const struct push_stats *push)
{
	json_t *const skews = json_object(), *const failing = json_object();

	for (size_t i = 0; i < push->n_targets; i++) {
		json_object_set_new(skews, push->targets[i].name,
				    json_integer((json_int_t)push->targets[i].clock_skew_sec));
		put_count(failing, push->targets[i].name, push->targets[i].is_failing);
	}
	json_object_set_new(object, "clock_skew_sec", skews);
	json_object_set_new(object, "failing", failing);
}

static void put_push_quality(json_t *object, const struct profile_quality *quality)
{
	json_t *const numbers = json_object();

	put_count(numbers, "all", quality->samples);
	put_count(numbers, "unnamed", quality->unnamed_samples);
	put_count(numbers, "not_rooted", quality->unrooted_samples);
	put_count(numbers, "overflow", quality->overflow_samples);
	json_object_set_new(object, "samples", numbers);
}

json_t *push_list(const struct daemon_stats *stats)
{
	const struct push_stats *const push = &stats->push;
	json_t *object = json_object();

	put_count(object, "periods", stats->pushes);
	put_count(object, "periods_cut_short", stats->pushes_cut_short);
	put_count(object, "samples_left_out", stats->pushes_left_out);
	put_count(object, "period_bytes", stats->push_bytes);
	put_count(object, "waiting_bytes", push->waiting_bytes);
	put_count(object, "graphs_dropped", push->graphs_dropped);
	put_count(object, "series_unwanted", push->series_unwanted);
	put_count(object, "labels_left_out", push->labels_left_out);
	put_count(object, "stacks_cut", push->stacks_cut);
	put_count(object, "stacks_too_large", push->stacks_too_large);
	put_count(object, "profiles_split", push->profiles_split);
	put_count(object, "profiles_unmade", push->profiles_unmade);
	put_push_quality(object, &push->quality);
	put_amounts(object, "made", push, offsetof(struct push_target_stats, made));
	put_amounts(object, "found", push, offsetof(struct push_target_stats, found));
	put_amounts(object, "sent", push, offsetof(struct push_target_stats, sent));
	put_amounts(object, "refused", push, offsetof(struct push_target_stats, refused));
	put_amounts(object, "in_doubt", push, offsetof(struct push_target_stats, in_doubt));
	put_amounts(object, "dropped_full", push, offsetof(struct push_target_stats, dropped_full));
	put_amounts(object, "dropped_old", push, offsetof(struct push_target_stats, dropped_old));
	put_amounts(object, "dropped_failed", push,
		    offsetof(struct push_target_stats, dropped_failed));
	put_amounts(object, "waiting", push, offsetof(struct push_target_stats, waiting));
	put_by_target(object, "lag_sec", push, offsetof(struct push_target_stats, lag_sec));
	put_by_target(object, "spool_bytes", push,
		      offsetof(struct push_target_stats, waiting_bytes));
	put_by_target(object, "memory_bytes", push,
		      offsetof(struct push_target_stats, memory_bytes));
	put_by_target(object, "sent_bytes", push, offsetof(struct push_target_stats, sent_bytes));
	put_by_target(object, "failed_tries", push,
		      offsetof(struct push_target_stats, failed_tries));
	put_by_target(object, "damaged_files", push, offsetof(struct push_target_stats, damaged));
	put_by_target(object, "undeleted_files", push,
		      offsetof(struct push_target_stats, undeleted));
	put_skew(object, push);
	return object;
}
