// SPDX-License-Identifier: Apache-2.0
/* Members of requests that no type of the option table reads and writes, see request_members.h. */
#include "serve/request_members.h"

#include "base/json_value.h"
#include "options/tables.h"
#include "serve/request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PID    (4 << 20) /* of a 64-bit kernel: PID_MAX_LIMIT */
#define VALUE_BYTES 80	      /* of a member that is refused; what is longer is cut */

const char *request_text(const json_t *object, const char *key)
{
	const json_t *const value = json_object_get(object, key);

	return value ? json_string_value(value) : "";
}

void request_put_text(json_t *object, const char *key, const char *text)
{
	if (text)
		json_object_set_new(object, key, json_string(text));
}

bool request_is_flag(const json_t *object, const char *key)
{
	const json_t *const value = json_object_get(object, key);

	return !value || json_is_boolean(value);
}

bool request_is_count(const json_t *object, const char *key)
{
	const json_t *const value = json_object_get(object, key);

	return !value || (json_is_integer(value) && json_integer_value(value) >= 0);
}

bool request_has_count(uint64_t count, uint64_t least, uint64_t most, bool is_needed)
{
	return count ? count >= least && count <= most : !is_needed;
}

/* ---- what is wrong with a member ---- */

/* The member's value as it was sent. */
static void show_value(const json_t *value, char ret[VALUE_BYTES])
{
	char *const text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	int len;

	len = snprintf(ret, VALUE_BYTES, "is %s", text ? text : "no value");
	if (len >= VALUE_BYTES)
		strcpy(ret + VALUE_BYTES - sizeof("..."), "...");
	free(text);
}

int request_refuse(const json_t *object, const char *key, const char *wanted, char *why)
{
	const json_t *const value = json_object_get(object, key);
	char shown[VALUE_BYTES] = "is missing";

	if (value)
		show_value(value, shown);
	snprintf(why, REQUEST_WHY_BYTES, "\"%s\" %s: %s", key, shown, wanted);
	return -EINVAL;
}

int request_refuse_count(const json_t *object, const char *key, const struct option_range *range,
			 char *why)
{
	char wanted[160];

	snprintf(wanted, sizeof(wanted),
		 "a whole number%s%s is needed, from %" PRIu64 " to %" PRIu64,
		 range->what[0] ? " " : "", range->what, range->least, range->most);
	return request_refuse(object, key, wanted, why);
}

int request_refuse_word(const json_t *object, const char *key, const char *words, char *why)
{
	char wanted[REQUEST_WHY_BYTES];

	snprintf(wanted, sizeof(wanted), "there are: %s", words);
	return request_refuse(object, key, wanted, why);
}

/* ---- members that do not go together ---- */

/* What a rule of options sees of a member; NULL: the option is not given. */
static const char *given_text(const json_t *value)
{
	if (json_is_string(value))
		return json_string_value(value);
	if (json_is_array(value))
		return json_array_size(value) > 0 ? "" : NULL;
	return json_is_true(value) || json_integer_value(value) != 0 ? "" : NULL;
}

int request_check(const json_t *object, unsigned command, char why[OPTION_WHY_BYTES])
{
	const json_t *const stack_bytes = json_object_get(object, "stack_bytes");
	struct option_given list[64];
	struct options_given given = {.rows = collect_rows, .command = command, .list = list};

	for (const struct request_option *option = request_options; option->number; option++) {
		const char *const text = given_text(json_object_get(object, option->key));

		if (text && given.count + 1 < sizeof(list) / sizeof(list[0]))
			options_given_add(&given, option->number, text);
	}
	/* Snapshots of no length are how a client asks for frame pointers alone. */
	if (stack_bytes && json_integer_value(stack_bytes) == 0)
		options_given_add(&given, OPTION_UNWIND, "fp");
	return options_given_check(&given, why);
}

/* ---- subjects ---- */

void request_put_pids(json_t *object, const char *key, const struct recording_options *options)
{
	json_t *const more = options->n_more_pids ? json_array() : NULL;

	json_value_put_count(object, key, (uint64_t)options->pid);
	for (size_t i = 0; i < options->n_more_pids; i++)
		json_array_append_new(more, json_integer(options->more_pids[i]));
	if (more)
		json_object_set_new(object, "more_pids", more);
}

/* A list of further PIDs. */
static int take_more_pids(const json_t *more, struct recording_options *options)
{
	if ((more && !json_is_array(more)) || json_array_size(more) > RECORDING_MORE_PIDS)
		return -EINVAL;
	for (size_t i = 0; i < json_array_size(more); i++) {
		const json_int_t pid = json_integer_value(json_array_get(more, i));

		if (pid < 1 || pid > MOST_PID)
			return -EINVAL;
		options->more_pids[options->n_more_pids++] = (pid_t)pid;
	}
	return 0;
}

int request_take_pids(const json_t *object, const char *key, struct recording_options *options,
		      char *why)
{
	char wanted[80];

	if (!request_is_count(object, key) || json_value_count(object, key) > MOST_PID) {
		snprintf(wanted, sizeof(wanted), "a PID from 1 to %d is needed, or 0", MOST_PID);
		return request_refuse(object, key, wanted, why);
	}
	options->pid = (pid_t)json_value_count(object, key);
	if (take_more_pids(json_object_get(object, "more_pids"), options) == 0)
		return 0;
	snprintf(wanted, sizeof(wanted), "a list of at most %d PIDs is needed, each from 1 to %d",
		 RECORDING_MORE_PIDS, MOST_PID);
	return request_refuse(object, "more_pids", wanted, why);
}

void request_put_names(json_t *object, const char *key, const struct recording_options *options,
		       enum selector_part_number part)
{
	json_t *const names = json_array();
	char text[SELECTOR_POD_BYTES];

	for (size_t i = 0; selector_text(&options->select, part, i, text, sizeof(text)); i++)
		json_array_append_new(names, json_string(text));
	/* An older daemon knows no list of one container. */
	if (json_array_size(names) == 1 && part != SELECTOR_LABEL)
		json_object_set(object, key, json_array_get(names, 0));
	else if (json_array_size(names) > 0)
		json_object_set(object, key, names);
	json_decref(names);
}

/* What is wrong with a text, or NULL. */
static const char *take_name(const json_t *value, enum selector_part_number part,
			     struct selector *select)
{
	const char *const text = json_string_value(value);

	return text ? selector_parts[part].set(select, text) : "a text is needed";
}

int request_take_names(const json_t *object, const char *key, struct recording_options *options,
		       enum selector_part_number part, char *why)
{
	const json_t *const value = json_object_get(object, key), *name;
	const bool is_one = part == SELECTOR_COMM || part == SELECTOR_JVM;
	const char *wanted = NULL;
	size_t i;

	if (value && (is_one || !json_is_array(value)))
		wanted = take_name(value, part, &options->select);
	json_array_foreach (is_one ? NULL : value, i, name) {
		if (!wanted)
			wanted = take_name(name, part, &options->select);
	}
	return wanted ? request_refuse(object, key, wanted, why) : 0;
}

void request_put_event(json_t *object, const char *key, const struct recording_options *options)
{
	json_object_set_new(object, key, json_string(options->event));
}

int request_take_event(const json_t *object, const char *key, struct recording_options *options,
		       char *why)
{
	const char *const text = request_text(object, key);

	if (!text || strlen(text) >= sizeof(options->event) || (text[0] && !sampler_is_event(text)))
		return request_refuse(
			object, key, "an event's name is needed, such as cpu-clock or cycles", why);
	snprintf(options->event, sizeof(options->event), "%s", text);
	return 0;
}

void request_put_kinds(json_t *object, const char *key, const struct recording_options *options)
{
	char kinds[RECORDING_KINDS_BYTES];

	json_object_set_new(object, key,
			    json_string(recording_kinds_text(recording_kinds(options), kinds)));
}

/* A client that does not say gets samples of the CPU. */
int request_take_kinds(const json_t *object, const char *key, struct recording_options *options,
		       char *why)
{
	const char *const text = request_text(object, key);
	char bad[16];

	options->kinds = SAMPLES_OF_CPU;
	if (text && json_object_get(object, key))
		options->kinds = recording_kinds_of(text, bad);
	if (!text || !options->kinds)
		return request_refuse(object, key,
				      "kinds with commas between them are needed, of: cpu, wall, "
				      "offcpu, alloc, lock, exceptions",
				      why);
	return 0;
}

void request_put_stack_bytes(json_t *object, const char *key,
			     const struct recording_options *options)
{
	json_value_put_count(object, key, options->stack_bytes);
}

/* A client that does not say the length of snapshots gets the default. */
int request_take_stack_bytes(const json_t *object, const char *key,
			     struct recording_options *options, char *why)
{
	const json_t *value = json_object_get(object, key);
	const json_int_t bytes = value ? json_integer_value(value) : SAMPLER_DEFAULT_STACK_BYTES;
	const bool is_length = bytes >= SAMPLER_LEAST_STACK_BYTES &&
			       bytes <= SAMPLER_MAX_STACK_BYTES && bytes % 8 == 0;
	char wanted[80];

	if ((!value || json_is_integer(value)) && (bytes == 0 || is_length)) {
		options->stack_bytes = (uint32_t)bytes;
		return 0;
	}
	snprintf(wanted, sizeof(wanted), "0 is needed, or a multiple of 8 from %u to %u",
		 (unsigned)SAMPLER_LEAST_STACK_BYTES, (unsigned)SAMPLER_MAX_STACK_BYTES);
	return request_refuse(object, key, wanted, why);
}

void request_put_states(json_t *object, const char *key, const struct render_options *options)
{
	json_t *const states = json_array();

	for (int state = 0; state < WAIT_STATES; state++) {
		if (options->waits.states >> state & 1)
			json_array_append_new(states,
					      json_string(wait_state_word((enum wait_state)state)));
	}
	json_object_set_new(object, key, states);
}

int request_take_states(const json_t *object, const char *key, struct render_options *options,
			char *why)
{
	const json_t *const states = json_object_get(object, key);
	bool is_good = !states || json_is_array(states);

	for (size_t i = 0; i < json_array_size(states); i++) {
		const char *const word = json_string_value(json_array_get(states, i));
		unsigned one = 0;

		is_good = is_good && word && wait_states_parse(word, &one);
		options->waits.states |= one;
	}
	return is_good ? 0
		       : request_refuse(object, key,
					"a list is needed of running, runnable and blocked", why);
}

void request_put_idle(json_t *object, const char *key, const struct render_options *options)
{
	const enum wait_idle idle = options->waits.idle;

	if (idle != WAIT_IDLE_DEFAULT)
		json_object_set_new(object, key,
				    json_string(idle == WAIT_IDLE_HIDDEN ? "hidden" : "shown"));
}

int request_take_idle(const json_t *object, const char *key, struct render_options *options,
		      char *why)
{
	const char *const word = request_text(object, key);

	options->waits.idle = !word			    ? WAIT_IDLE_DEFAULT
			      : strcmp(word, "hidden") == 0 ? WAIT_IDLE_HIDDEN
			      : strcmp(word, "shown") == 0  ? WAIT_IDLE_SHOWN
							    : WAIT_IDLE_DEFAULT;
	if (!word || (word[0] && options->waits.idle == WAIT_IDLE_DEFAULT))
		return request_refuse_word(object, key, "hidden, shown", why);
	return 0;
}

void request_put_idle_frames(json_t *object, const char *key, const struct render_options *options)
{
	json_t *const frames = json_array();

	for (size_t i = 0; i < options->waits.n_idle_frames; i++)
		json_array_append_new(frames, json_string(options->waits.idle_frames[i]));
	json_object_set_new(object, key, frames);
}

int request_take_idle_frames(const json_t *object, const char *key, struct render_options *options,
			     char *why)
{
	const json_t *const frames = json_object_get(object, key);
	struct wait_options *const waits = &options->waits;
	bool is_good =
		(!frames || json_is_array(frames)) && json_array_size(frames) <= WAITS_MAX_FRAMES;
	char wanted[80];

	for (size_t i = 0; is_good && i < json_array_size(frames); i++) {
		const char *const frame = json_string_value(json_array_get(frames, i));

		is_good = frame && strlen(frame) <= WAITS_MAX_FRAME_BYTES;
		if (is_good)
			waits->idle_frames[waits->n_idle_frames++] = frame;
	}
	if (is_good)
		return 0;
	snprintf(wanted, sizeof(wanted), "a list is needed of at most %u texts of %d bytes",
		 WAITS_MAX_FRAMES, (int)WAITS_MAX_FRAME_BYTES);
	return request_refuse(object, key, wanted, why);
}
