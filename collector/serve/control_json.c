// SPDX-License-Identifier: Apache-2.0
/* Options of recordings and drawings, and status, as JSON and back; see control.h, waits_json.h. */
#include "serve/control.h"

#include "base/json_value.h"
#include "serve/selector_json.h"
#include "serve/waits_json.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

void control_targets_to_json(const struct recording_options *options, json_t *object)
{
	json_t *const more = options->n_more_pids ? json_array() : NULL;

	json_value_put_count(object, "pid", (uint64_t)options->pid);
	for (size_t i = 0; i < options->n_more_pids; i++)
		json_array_append_new(more, json_integer(options->more_pids[i]));
	if (more)
		json_object_set_new(object, "more_pids", more);
	selector_to_json(&options->select, object);
}

int control_targets_from_json(const json_t *object, struct recording_options *ret)
{
	const json_t *const more = json_object_get(object, "more_pids");
	ret->pid = (pid_t)(json_value_count(object, "pid") & INT_MAX);
	if (json_array_size(more) > RECORDING_MORE_PIDS)
		return -EINVAL;
	for (size_t i = 0; i < json_array_size(more); i++)
		ret->more_pids[ret->n_more_pids++] =
			(pid_t)(json_integer_value(json_array_get(more, i)) & INT_MAX);
	return selector_from_json(object, &ret->select);
}

json_t *control_options_to_json(const struct recording_options *options)
{
	json_t *object = json_object();
	char kinds[RECORDING_KINDS_BYTES];

	control_targets_to_json(options, object);
	json_object_set_new(object, "all", json_boolean(options->all));
	json_object_set_new(object, "capture", json_boolean(options->has_capture));
	json_object_set_new(object, "by_pid", json_boolean(options->style.by_pid));
	json_object_set_new(object, "by_thread", json_boolean(options->style.by_thread));
	json_object_set_new(object, "cut_carriers", json_boolean(options->style.cuts_carriers));
	json_object_set_new(object, "kind",
			    json_string(recording_kinds_text(recording_kinds(options), kinds)));
	json_value_put_count(object, "wall_hz", options->wall_hz);
	json_object_set_new(object, "short_waits", json_boolean(options->waits.is_asked));
	json_object_set_new(object, "waker", json_boolean(options->waits.has_wakers));
	json_value_put_count(object, "alloc_interval", options->probes.alloc_interval);
	json_object_set_new(object, "live", json_boolean(options->probes.is_live));
	json_value_put_count(object, "hz", options->hz);
	json_object_set_new(object, "event", json_string(options->event));
	json_value_put_count(object, "duration_ns", options->duration_ns);
	json_value_put_count(object, "stack_bytes", options->stack_bytes);
	json_object_set_new(object, "sampler", json_string(sampler_source_word(options->source)));
	json_value_put_count(object, "max_samples_hz", options->max_samples_hz);
	json_value_put_count(object, "window_seconds", options->window_seconds);
	json_object_set_new(object, "java_names",
			    json_string(java_name_style_word(options->style.names.style)));
	json_object_set_new(object, "cxx_names",
			    json_string(demangle_style_word(options->style.cxx_names)));
	json_object_set_new(object, "native_lines", json_boolean(options->style.has_native_lines));
	json_object_set_new(object, "raw_names", json_boolean(options->style.names.is_raw));
	json_object_set_new(object, "lines", json_boolean(options->style.names.has_lines));
	return object;
}

/* Reads how methods are named. A client that does not say so gets the default. */
static int names_at(const json_t *object, struct java_name_options *ret)
{
	const json_t *word = json_object_get(object, "java_names");

	ret->is_raw = json_value_bool(object, "raw_names");
	ret->has_lines = json_value_bool(object, "lines");
	if (!word)
		return 0;
	return json_is_string(word) ? java_name_style_of(json_string_value(word), &ret->style)
				    : -EINVAL;
}

static int cxx_names_at(const json_t *object, enum demangle_style *ret)
{
	const json_t *word = json_object_get(object, "cxx_names");

	if (!word)
		return 0;
	return json_is_string(word) ? demangle_style_of(json_string_value(word), ret) : -EINVAL;
}

/* Reads the length of snapshots. A client that does not say the length gets the default. */
static int stack_at(const json_t *object, uint32_t *ret)
{
	const json_t *value = json_object_get(object, "stack_bytes");
	const json_int_t bytes = value ? json_integer_value(value) : SAMPLER_DEFAULT_STACK_BYTES;

	if (value && !json_is_integer(value))
		return -EINVAL;
	if (bytes != 0 && (bytes < SAMPLER_LEAST_STACK_BYTES || bytes > SAMPLER_MAX_STACK_BYTES ||
			   bytes % 8 != 0))
		return -EINVAL;
	*ret = (uint32_t)bytes;
	return 0;
}

/* Reads who takes the samples. A client that does not say gets the default. */
static int sampler_at(const json_t *object, struct recording_options *ret)
{
	const json_t *word = json_object_get(object, "sampler");
	const uint64_t hz = json_value_count(object, "max_samples_hz");

	if (hz > SAMPLER_MOST_SAMPLES_HZ)
		return -EINVAL;
	ret->max_samples_hz = (unsigned)hz;
	if (!word)
		return 0;
	return json_is_string(word) ? sampler_source_of(json_string_value(word), &ret->source)
				    : -EINVAL;
}

/* Reads how probes are asked for. A client that does not say gets the default. */
static int probes_at(const json_t *object, struct probe_arms_options *ret)
{
	const uint64_t interval = json_value_count(object, "alloc_interval");

	if (interval > UINT32_MAX || (interval && !probe_arms_interval_word((uint32_t)interval)))
		return -EINVAL;
	ret->alloc_interval = (uint32_t)interval;
	ret->is_live = json_value_bool(object, "live");
	return 0;
}

/* Reads what is sampled. A client that does not say gets samples of the CPU. */
static int kinds_at(const json_t *object, struct recording_options *ret)
{
	const json_t *list = json_object_get(object, "kind");
	const uint64_t hz = json_value_count(object, "wall_hz");
	char bad[16];

	if (hz > THREAD_CLOCK_MOST_HZ || (list && !json_is_string(list)))
		return -EINVAL;
	ret->wall_hz = (unsigned)hz;
	ret->waits.is_asked = json_value_bool(object, "short_waits");
	ret->waits.has_wakers = json_value_bool(object, "waker");
	ret->kinds = list ? recording_kinds_of(json_string_value(list), bad) : SAMPLES_OF_CPU;
	return ret->kinds ? 0 : -EINVAL;
}

int control_options_from_json(const json_t *object, struct recording_options *ret)
{
	struct recording_options options = {
		.all = json_value_bool(object, "all"),
		.has_capture = json_value_bool(object, "capture"),
		.style.by_pid = json_value_bool(object, "by_pid"),
		.style.by_thread = json_value_bool(object, "by_thread"),
		.style.cuts_carriers = json_value_bool(object, "cut_carriers"),
		.hz = (unsigned)(json_value_count(object, "hz") & UINT_MAX),
		.duration_ns = json_value_count(object, "duration_ns"),
	};

	snprintf(options.event, sizeof(options.event), "%s", json_value_text(object, "event"));
	if (options.hz == 0 || options.duration_ns == 0)
		return -EINVAL;
	if (json_value_count(object, "window_seconds") > WINDOW_MAX_SECONDS)
		return -EINVAL;
	options.window_seconds = (uint32_t)json_value_count(object, "window_seconds");
	if (options.event[0] && !sampler_is_event(options.event))
		return -EINVAL;
	options.style.has_native_lines = json_value_bool(object, "native_lines");
	if (control_targets_from_json(object, &options) < 0 ||
	    names_at(object, &options.style.names) < 0 ||
	    cxx_names_at(object, &options.style.cxx_names) < 0 ||
	    stack_at(object, &options.stack_bytes) < 0 || sampler_at(object, &options) < 0 ||
	    kinds_at(object, &options) < 0 || probes_at(object, &options.probes) < 0)
		return -EINVAL;
	*ret = options;
	return 0;
}

void waits_to_json(const struct wait_options *options, json_t *object)
{
	json_t *states = json_array(), *frames = json_array();

	for (int state = 0; state < WAIT_STATES; state++) {
		if (options->states >> state & 1)
			json_array_append_new(states,
					      json_string(wait_state_word((enum wait_state)state)));
	}
	for (size_t i = 0; i < options->n_idle_frames; i++)
		json_array_append_new(frames, json_string(options->idle_frames[i]));
	json_object_set_new(object, "states", states);
	json_object_set_new(object, "idle_frames", frames);
	if (options->idle != WAIT_IDLE_DEFAULT)
		json_object_set_new(
			object, "idle",
			json_string(options->idle == WAIT_IDLE_HIDDEN ? "hidden" : "shown"));
}

/* NULL: the value is no text. */
static const char *text_of(const json_t *value)
{
	return json_is_string(value) ? json_string_value(value) : NULL;
}

static int states_at(const json_t *object, unsigned *ret)
{
	const json_t *const states = json_object_get(object, "states");

	if (states && !json_is_array(states))
		return -EINVAL;
	for (size_t i = 0; i < json_array_size(states); i++) {
		const char *const word = text_of(json_array_get(states, i));
		unsigned one;

		if (!word || !wait_states_parse(word, &one))
			return -EINVAL;
		*ret |= one;
	}
	return 0;
}

static int idle_at(const json_t *object, struct wait_options *ret)
{
	const json_t *const idle = json_object_get(object, "idle");
	const json_t *const frames = json_object_get(object, "idle_frames");
	const char *const word = text_of(idle);

	if ((idle && !word) || (frames && !json_is_array(frames)) ||
	    json_array_size(frames) > WAITS_MAX_FRAMES)
		return -EINVAL;
	if (word)
		ret->idle = strcmp(word, "hidden") == 0	 ? WAIT_IDLE_HIDDEN
			    : strcmp(word, "shown") == 0 ? WAIT_IDLE_SHOWN
							 : WAIT_IDLE_DEFAULT;
	for (size_t i = 0; i < json_array_size(frames); i++) {
		const char *const frame = text_of(json_array_get(frames, i));

		if (!frame || strlen(frame) > WAITS_MAX_FRAME_BYTES)
			return -EINVAL;
		ret->idle_frames[ret->n_idle_frames++] = frame;
	}
	return 0;
}

int waits_from_json(const json_t *object, struct wait_options *ret)
{
	struct wait_options options = {0};

	if (states_at(object, &options.states) < 0 || idle_at(object, &options) < 0)
		return -EINVAL;
	*ret = options;
	return 0;
}

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

json_t *control_status_to_json(const struct recording_status *status)
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

void control_status_from_json(const json_t *object, struct recording_status *ret)
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
