// SPDX-License-Identifier: Apache-2.0
/* Values that no type of the option table reads, see option_setters.h. */
#include "cli/option_setters.h"

#include "base/clock.h"
#include "cli/foreign_options.h"
#include "encode/quantity.h"
#include "options/option_value.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SECONDS (7 * 24 * 60 * 60)

#define STACK_ASKED_MAX (64u << 10)
#define STACK_LIMIT	"64000" /* SAMPLER_MAX_STACK_BYTES as text */
static_assert(SAMPLER_MAX_STACK_BYTES == 64000, "STACK_LIMIT says so");

int option_add_pid(struct recording_options *recording, const char *told, const char *text)
{
	pid_t pid = 0;
	const int err = store_request_set_pid(&pid, told, text);

	if (err)
		return err;
	if (recording->pid == 0)
		recording->pid = pid;
	else if (recording->n_more_pids < RECORDING_MORE_PIDS)
		recording->more_pids[recording->n_more_pids++] = pid;
	else
		return option_bad_value(told, text, "that is one PID too many: 8 can be given");
	return 0;
}

int option_set_event(struct recording_options *recording, const char *told, const char *text)
{
	if (!sampler_is_event(text) && foreign_event_instead(text)) {
		log_error("%s %s: that is no event of perf; in place of it: %s", told, text,
			  foreign_event_instead(text));
		return -EINVAL;
	}
	if (!sampler_is_event(text)) {
		log_error("%s %s: no such event; there are: %s", told, text, sampler_events());
		return -EINVAL;
	}
	snprintf(recording->event, sizeof(recording->event), "%s", text);
	return 0;
}

int option_set_kinds(unsigned *kinds, const char *told, const char *text)
{
	char bad[16], why[40] = "which kind? There";

	*kinds = recording_kinds_of(text, bad);
	if (*kinds)
		return 0;
	if (bad[0])
		snprintf(why, sizeof(why), "no such kind: %s; there", bad);
	log_error("%s %s: %s are: cpu wall offcpu alloc objects lock contentions exceptions, with "
		  "commas between them",
		  told, text, why);
	return -EINVAL;
}

/*
 * Reads a number of bytes, or of KiB with a k behind it. Up to 64k is allowed, but a record has
 * room for a little less.
 */
int option_set_stack_size(uint32_t *ret, const char *told, const char *text)
{
	uint64_t bytes;

	if (!quantity_parse_size(text, &bytes) || bytes % 8 != 0 ||
	    bytes < SAMPLER_LEAST_STACK_BYTES || bytes > STACK_ASKED_MAX)
		return option_bad_value(told, text,
					"a number of bytes from 1k to " STACK_LIMIT
					" is needed, a multiple "
					"of 8; the kernel has no room for more in a sample");
	*ret = bytes < SAMPLER_MAX_STACK_BYTES ? (uint32_t)bytes : SAMPLER_MAX_STACK_BYTES;
	return 0;
}

int option_set_duration(struct options *options, const char *told, const char *text)
{
	double seconds;

	if (!quantity_parse_seconds(text, &seconds) || seconds * 1e9 < 1e6 || seconds > MAX_SECONDS)
		return option_bad_value(told, text,
					"a time greater than 0 is needed: 30 or 30s, 0.5, 5m, 2h, "
					"at most 7d");
	options->recording.duration_ns = (uint64_t)(seconds * 1e9);
	options->has_duration = true;
	return 0;
}

int option_set_map_names(struct options *options, const char *told, const char *text)
{
	struct perf_map_style style;

	if (perf_map_style_parse(text, &style) < 0) {
		log_error("%s %s: words with commas between them are needed, of: %s", told, text,
			  perf_map_style_words());
		return -EINVAL;
	}
	options->map_names = text;
	options->map_style = style;
	return 0;
}

int option_add_output(struct options *options, const char *told, const char *text)
{
	if (options->n_outputs == OUTPUT_PATHS_MAX)
		return option_bad_value(told, text, "that is one output too many");
	options->outputs[options->n_outputs++].path = text;
	return 0;
}
