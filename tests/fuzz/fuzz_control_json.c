// SPDX-License-Identifier: Apache-2.0
/*
 * Requests at the control socket, and the answers that a client reads. Options that were taken from
 * JSON are within their limits; written as JSON and taken again they are the same, and so are the
 * processes that they mean, and what they want of threads that wait. What a status says is the same
 * once it was written and read.
 */
#include "fuzzer.h"

#include "profile/window.h"
#include "sample/sampler.h"
#include "serve/control.h"
#include "serve/request.h"
#include "serve/status_json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char why[REQUEST_WHY_BYTES]; /* of a request that is refused */

static void check(bool is_so)
{
	if (!is_so)
		abort();
}

static bool is_terminated(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static void check_selector(const struct selector *selector)
{
	char said[4096];

	check(selector->n_labels <= SELECTOR_MAX_LABELS);
	check(is_terminated(selector->container, sizeof(selector->container)));
	check(is_terminated(selector->pod, sizeof(selector->pod)));
	check(is_terminated(selector->comm, sizeof(selector->comm)));
	check(is_terminated(selector->jvm, sizeof(selector->jvm)));
	for (size_t i = 0; i < selector->n_labels; i++) {
		check(selector->labels[i].key[0] != '\0');
		check(is_terminated(selector->labels[i].key, LABEL_KEY_BYTES));
		check(is_terminated(selector->labels[i].value, LABEL_VALUE_BYTES));
	}
	selector_say(selector, said, sizeof(said));
	check(is_terminated(said, sizeof(said)));
	selector_say(selector, said, 8);
	check(is_terminated(said, 8));
}

static void check_limits(const struct recording_options *options)
{
	const uint32_t bytes = options->stack_bytes;

	check(options->hz > 0 && options->duration_ns > 0 && options->pid >= 0);
	check(bytes == 0 || (bytes >= SAMPLER_LEAST_STACK_BYTES &&
			     bytes <= SAMPLER_MAX_STACK_BYTES && bytes % 8 == 0));
	check(options->window_seconds <= WINDOW_MAX_SECONDS);
	check(!options->event[0] || sampler_is_event(options->event));
	check(options->style.cxx_names < DEMANGLE_STYLES);
	check_selector(&options->select);
}

/* Takes back what was written, through text as it comes by the socket. */
static json_t *sent(json_t *object)
{
	char *const text = json_dumps(object, JSON_COMPACT);
	json_t *const received = text ? json_loadb(text, strlen(text), 0, NULL) : NULL;

	check(received != NULL);
	json_decref(object);
	free(text);
	return received;
}

static json_t *request_of(const struct recording_options *options)
{
	json_t *const object = json_object();

	request_put_record(options, object);
	return object;
}

static void check_options(const json_t *request)
{
	struct recording_options options = {.hz = 77}, again;
	json_t *first, *second;

	if (request_take_record(request, &options, why) < 0) {
		check(options.hz == 77); /* as it was */
		check(is_terminated(why, sizeof(why)) && why[0]);
		return;
	}
	check_limits(&options);
	first = sent(request_of(&options));
	check(request_take_record(first, &again, why) == 0);
	check_limits(&again);
	second = sent(request_of(&again));
	check(json_equal(first, second));
	json_decref(first);
	json_decref(second);
}

static void check_targets(const json_t *request)
{
	struct recording_options options = {0}, again = {0};
	json_t *first = json_object(), *second = json_object();

	if (request_take_list(request, &options, why) == 0) {
		check_selector(&options.select);
		request_put_list(&options, first);
		first = sent(first);
		check(request_take_list(first, &again, why) == 0);
		request_put_list(&again, second);
		check(json_equal(first, second) && options.pid == again.pid &&
		      options.select.n_labels == again.select.n_labels);
	}
	json_decref(first);
	json_decref(second);
}

static void check_waits(const json_t *request)
{
	struct render_options options, again;
	json_t *first = json_object();

	if (request_take_render(request, &options, why) == 0) {
		check(options.waits.n_idle_frames <= WAITS_MAX_FRAMES);
		check(options.waits.states < 1u << WAIT_STATES);
		request_put_render(&options, first);
		first = sent(first);
		check(request_take_render(first, &again, why) == 0);
		check(again.waits.states == options.waits.states &&
		      again.waits.idle == options.waits.idle &&
		      again.waits.n_idle_frames == options.waits.n_idle_frames);
		for (size_t i = 0; i < options.waits.n_idle_frames; i++)
			check(strcmp(options.waits.idle_frames[i], again.waits.idle_frames[i]) ==
			      0);
	}
	json_decref(first);
}

static void check_status(const json_t *answer)
{
	struct recording_status status, again;
	json_t *first, *second;

	status_from_json(answer, &status);
	check(is_terminated(status.event, sizeof(status.event)));
	first = sent(status_to_json(&status));
	status_from_json(first, &again);
	second = sent(status_to_json(&again));
	check(json_equal(first, second));
	check(again.samples == status.samples && again.is_done == status.is_done &&
	      strcmp(again.event, status.event) == 0);
	json_decref(first);
	json_decref(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *const request = size <= CONTROL_MAX_MESSAGE_BYTES
					? json_loadb((const char *)data, size, 0, NULL)
					: NULL;

	/* What is no JSON is NULL, and is passed on as that. */
	check_options(request);
	check_targets(request);
	check_waits(request);
	check_status(request);
	json_decref(request);
	return 0;
}
