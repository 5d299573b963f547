// SPDX-License-Identifier: Apache-2.0
/* How a recording is, as JSON and back, see status_json.h. */
#include "serve/status_json.h"

#include "base/json_value.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Writes reasons by name, because the numbers of an enumeration may change between versions. */
static json_t *truncated_to_json(const uint64_t truncated[STACK_ENDS])
{
	json_t *object = json_object();

	for (int i = 0; i < STACK_ENDS; i++) {
		if (truncated[i])
			json_value_put_count(object, stack_end_name((enum stack_end)i),
					     truncated[i]);
	}
	return object;
}

static void truncated_from_json(const json_t *object, uint64_t ret[STACK_ENDS])
{
	for (int i = 0; i < STACK_ENDS; i++)
		ret[i] = json_value_count(object, stack_end_name((enum stack_end)i));
}

static void quality_to_json(const struct profile_quality *quality, json_t *object)
{
	json_value_put_count(object, "unnamed", quality->unnamed_samples);
	json_value_put_count(object, "unnamed_java", quality->unnamed_java_samples);
	json_value_put_count(object, "unrooted", quality->unrooted_samples);
	json_value_put_count(object, "heapless", quality->heapless_samples);
	json_value_put_count(object, "overflow", quality->overflow_samples);
	json_value_put_count(object, "stacks_left_out", quality->stackless_samples);
	json_object_set_new(object, "truncated", truncated_to_json(quality->truncated_samples));
}

/* The kinds behind the first. */
static json_t *parts_to_json(const struct recording_status *status)
{
	json_t *array = json_array();

	for (size_t i = 0; i < status->n_parts; i++) {
		const struct recording_part *const part = &status->parts[i];
		json_t *object = json_object();

		json_object_set_new(object, "kind", json_string(part->kind->profile->name));
		json_value_put_count(object, "samples", part->quality.samples);
		json_value_put_count(object, "lost", part->quality.lost_samples);
		quality_to_json(&part->quality, object);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *live_to_json(const struct recording_live *live)
{
	json_t *const object = json_object();

	json_value_put_count(object, "watched", live->watched);
	json_value_put_count(object, "dead", live->dead);
	json_value_put_count(object, "living", live->living);
	json_value_put_count(object, "unwatched", live->unwatched);
	json_value_put_count(object, "left_out", live->left_out);
	json_value_put_count(object, "lost", live->lost);
	return object;
}

static void live_from_json(const json_t *object, struct recording_live *ret)
{
	*ret = (struct recording_live){
		.watched = json_value_count(object, "watched"),
		.dead = json_value_count(object, "dead"),
		.living = json_value_count(object, "living"),
		.unwatched = json_value_count(object, "unwatched"),
		.left_out = json_value_count(object, "left_out"),
		.lost = json_value_count(object, "lost"),
	};
}

static json_t *probes_to_json(const struct probe_arms_stats *stats)
{
	json_t *object = json_object();

	json_value_put_count(object, "armed", stats->armed);
	json_value_put_count(object, "opening", stats->opening);
	json_value_put_count(object, "refused", stats->refused);
	json_value_put_count(object, "pauses", stats->pauses);
	json_object_set_new(object, "why", json_string(stats->why));
	return object;
}

static void probes_from_json(const json_t *object, struct probe_arms_stats *ret)
{
	*ret = (struct probe_arms_stats){
		.armed = json_value_count(object, "armed"),
		.opening = json_value_count(object, "opening"),
		.refused = json_value_count(object, "refused"),
		.pauses = json_value_count(object, "pauses"),
	};
	snprintf(ret->why, sizeof(ret->why), "%s", json_value_text(object, "why"));
}

json_t *status_to_json(const struct recording_status *status)
{
	json_t *object = json_object();

	json_value_put_count(object, "elapsed_ns", status->elapsed_ns);
	json_value_put_count(object, "samples", status->samples);
	json_value_put_count(object, "lost", status->lost);
	json_value_put_count(object, "jvms", status->jvms);
	json_value_put_count(object, "outside", status->outside);
	json_object_set_new(object, "done", json_boolean(status->is_done));
	json_object_set_new(object, "event", json_string(status->event));
	json_object_set_new(object, "source", json_string(status->source));
	json_object_set_new(object, "clock_source", json_string(status->clock_source));
	json_value_put_count(object, "wall_hz", status->wall_hz);
	json_object_set_new(object, "probes", probes_to_json(&status->probes));
	json_object_set_new(object, "live", live_to_json(&status->live));
	quality_to_json(&status->quality, object);
	json_object_set_new(object, "parts", parts_to_json(status));
	return object;
}

static void quality_from_json(const json_t *object, struct profile_quality *ret)
{
	*ret = (struct profile_quality){
		.samples = json_value_count(object, "samples"),
		.unnamed_samples = json_value_count(object, "unnamed"),
		.unnamed_java_samples = json_value_count(object, "unnamed_java"),
		.unrooted_samples = json_value_count(object, "unrooted"),
		.heapless_samples = json_value_count(object, "heapless"),
		.lost_samples = json_value_count(object, "lost"),
		.overflow_samples = json_value_count(object, "overflow"),
		.stackless_samples = json_value_count(object, "stacks_left_out"),
	};
	truncated_from_json(json_object_get(object, "truncated"), ret->truncated_samples);
}

/* The kind, or what it becomes in a recording of living objects, if that is called so. */
static const struct sample_kind *kind_called(const struct sample_kind *kind, const char *name)
{
	const struct sample_kind *const live = sample_kind_if_live(kind);

	return strcmp(kind->profile->name, name) == 0	? kind
	       : strcmp(live->profile->name, name) == 0 ? live
							: NULL;
}

/* An older daemon has no parts: its samples are those of the CPU. */
static void parts_from_json(const json_t *array, struct recording_status *ret)
{
	const json_t *object;
	size_t i;

	json_array_foreach (array, i, object) {
		const char *const name = json_value_text(object, "kind");

		for (size_t k = 0; k < SAMPLE_KINDS && ret->n_parts < SAMPLE_KINDS; k++) {
			struct recording_part *const part = &ret->parts[ret->n_parts];

			part->kind = kind_called(sample_kinds[k], name);
			if (!part->kind)
				continue;
			quality_from_json(object, &part->quality);
			ret->n_parts++;
		}
	}
	if (ret->n_parts > 0)
		return;
	ret->parts[ret->n_parts++] =
		(struct recording_part){.kind = &sample_kind_cpu, .quality = ret->quality};
}

void status_from_json(const json_t *object, struct recording_status *ret)
{
	*ret = (struct recording_status){
		.elapsed_ns = json_value_count(object, "elapsed_ns"),
		.samples = json_value_count(object, "samples"),
		.lost = json_value_count(object, "lost"),
		.jvms = (uint32_t)json_value_count(object, "jvms"),
		.outside = (uint32_t)json_value_count(object, "outside"),
		.is_done = json_value_bool(object, "done"),
		.wall_hz = (unsigned)(json_value_count(object, "wall_hz") & UINT_MAX),
	};
	quality_from_json(object, &ret->quality);
	parts_from_json(json_object_get(object, "parts"), ret);
	probes_from_json(json_object_get(object, "probes"), &ret->probes);
	live_from_json(json_object_get(object, "live"), &ret->live);
	snprintf(ret->clock_source, sizeof(ret->clock_source), "%s",
		 json_value_text(object, "clock_source"));
	snprintf(ret->event, sizeof(ret->event), "%s", json_value_text(object, "event"));
	snprintf(ret->source, sizeof(ret->source), "%s", json_value_text(object, "source"));
}
