// SPDX-License-Identifier: Apache-2.0
/* How stacks are sampled, see sample_options.h. */
#include "cli/sample_options.h"

#include "cli/foreign_options.h"
#include "encode/quantity.h"
#include "options/tables.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HZ	    100000 /* the error message has the number too */
#define MAX_SECONDS (7 * 24 * 60 * 60)

#define STACK_ASKED_MAX (64u << 10)
#define STACK_LIMIT	"64000" /* SAMPLER_MAX_STACK_BYTES as text */
static_assert(SAMPLER_MAX_STACK_BYTES == 64000, "STACK_LIMIT says so");

static int set_duration(struct options *options, const char *text)
{
	uint64_t whole;
	double seconds;

	if (quantity_parse_time(text, &whole))
		seconds = (double)whole;
	else if (!options_parse_number(text, 0, MAX_SECONDS, &seconds))
		seconds = 0;
	if (seconds * 1e9 < 1e6 || seconds > MAX_SECONDS)
		return options_bad_value("-d", text,
					 "a time greater than 0 is needed: 30 or 30s, 5m, 2h, at "
					 "most 7d");
	options->recording.duration_ns = (uint64_t)(seconds * 1e9);
	options->has_duration = true;
	return 0;
}

static int set_frequency(struct options *options, const char *text)
{
	double hz;

	if (!options_parse_number(text, 1, MAX_HZ, &hz) || hz != floor(hz))
		return options_bad_value(
			"-F", text,
			"a whole number of samples a second is needed, from 1 to 100000");
	options->recording.hz = (unsigned)hz;
	return 0;
}

static int set_unwind(struct options *options, const char *text)
{
	options->is_fp_only = strcmp(text, "fp") == 0;
	if (options->is_fp_only || strcmp(text, "full") == 0)
		return 0;
	log_error("--unwind %s: no such way; there are: full fp", text);
	return -EINVAL;
}

static int set_sampler(struct options *options, const char *text)
{
	if (sampler_source_of(text, &options->recording.source) == 0)
		return 0;
	log_error("--sampler %s: no such sampler; there are: %s", text, sampler_source_words());
	return -EINVAL;
}

static int set_kind(struct options *options, const char *text)
{
	char bad[16];

	options->recording.kinds = recording_kinds_of(text, bad);
	if (options->recording.kinds)
		return 0;
	if (bad[0])
		log_error("--kind %s: no such kind: %s; there are: cpu wall offcpu alloc objects "
			  "lock contentions exceptions, with commas between them",
			  text, bad);
	else
		log_error("--kind %s: which kind? There are: cpu wall offcpu alloc objects "
			  "lock contentions exceptions, with commas between them",
			  text);
	return -EINVAL;
}

static int set_alloc_interval(struct options *options, const char *text)
{
	options->recording.probes.alloc_interval = probe_arms_interval(text);
	if (options->recording.probes.alloc_interval)
		return 0;
	log_error("--alloc-interval %s: the agent has these intervals alone: 16k 64k 512k 2m",
		  text);
	return -EINVAL;
}

static int set_wall_frequency(struct options *options, const char *text)
{
	double hz;

	if (!options_parse_number(text, 1, THREAD_CLOCK_MOST_HZ, &hz) || hz != floor(hz))
		return options_bad_value("--wall-frequency", text,
					 "a whole number from 1 to 1000 is needed: so often a "
					 "second threads are read");
	options->recording.wall_hz = (unsigned)hz;
	return 0;
}

static int set_max_samples(struct options *options, const char *text)
{
	double hz;

	if (!options_parse_number(text, 1, SAMPLER_MOST_SAMPLES_HZ, &hz) || hz != floor(hz))
		return options_bad_value("--max-samples", text,
					 "a whole number of samples a second of all CPUs is "
					 "needed, from 1 to 10000000");
	options->recording.max_samples_hz = (unsigned)hz;
	return 0;
}

static int set_virtual_threads(struct options *options, const char *text)
{
	options->recording.style.cuts_carriers = strcmp(text, "cut") == 0;
	if (options->recording.style.cuts_carriers || strcmp(text, "carrier") == 0)
		return 0;
	log_error("--virtual-threads %s: no such way; there are: carrier cut", text);
	return -EINVAL;
}

/*
 * Reads a number of bytes, or of KiB with a k behind it. Up to 64k is allowed, but a record has
 * room for a little less.
 */
static int set_stack_size(struct options *options, const char *text)
{
	unsigned long bytes;
	char *end;

	errno = 0;
	bytes = strtoul(text, &end, 10);
	if ((*end == 'k' || *end == 'K') && bytes <= STACK_ASKED_MAX) {
		bytes *= 1024;
		end++;
	}
	if (text[0] < '0' || text[0] > '9' || *end || errno || bytes % 8 != 0 ||
	    bytes < SAMPLER_LEAST_STACK_BYTES || bytes > STACK_ASKED_MAX)
		return options_bad_value("--stack-size", text,
					 "a number of bytes from 1k to " STACK_LIMIT
					 " is needed, a multiple "
					 "of 8; the kernel has no room for more in a sample");
	options->recording.stack_bytes =
		bytes < SAMPLER_MAX_STACK_BYTES ? (uint32_t)bytes : SAMPLER_MAX_STACK_BYTES;
	options->has_stack_size = true;
	return 0;
}

/* Reads a number of bytes, or of KiB, MiB or GiB with k, M or G behind it. */
static int set_symbol_cache(struct options *options, const char *text)
{
	static const char units[] = "kmg";
	unsigned long long bytes;
	const char *unit;
	unsigned shift = 0;
	char *end;

	errno = 0;
	bytes = strtoull(text, &end, 10);
	unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	if (text[0] < '0' || text[0] > '9' || *end || errno ||
	    bytes > TABLE_CACHE_MOST_BYTES >> shift || bytes << shift < TABLE_CACHE_LEAST_BYTES)
		return options_bad_value(
			"--symbol-cache", text,
			"a number of bytes from 1M to 64G is needed, such as 512M: so "
			"much is kept of symbols and unwind rules together");
	options->symbol_cache = text;
	options->table_bytes = (size_t)(bytes << shift);
	return 0;
}

static int set_event(struct options *options, const char *text)
{
	if (!sampler_is_event(text) && foreign_event_instead(text)) {
		log_error("-e %s: that is no event of perf; in place of it: %s", text,
			  foreign_event_instead(text));
		return -EINVAL;
	}
	if (!sampler_is_event(text)) {
		log_error("-e %s: no such event; there are: %s", text, sampler_events());
		return -EINVAL;
	}
	snprintf(options->recording.event, sizeof(options->recording.event), "%s", text);
	return 0;
}

/* Applies options about a recording's length and the report of its progress. */
static int apply_time(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_DURATION:
		return set_duration(options, value);
	case OPTION_UNTIL_EOF:
		options->ends_with_stdin = true;
		return 0;
	case OPTION_PROGRESS:
		options->says_progress = true;
		return 0;
	default:
		return 1;
	}
}

int sample_options_apply(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_FREQUENCY:
		return set_frequency(options, value);
	case OPTION_EVENT:
		return set_event(options, value);
	case OPTION_UNWIND:
		return set_unwind(options, value);
	case OPTION_VIRTUAL_THREADS:
		return set_virtual_threads(options, value);
	case OPTION_SAMPLER:
		return set_sampler(options, value);
	case OPTION_MAX_SAMPLES:
		return set_max_samples(options, value);
	case OPTION_KIND:
		return set_kind(options, value);
	case OPTION_WALL_FREQUENCY:
		return set_wall_frequency(options, value);
	case OPTION_ALLOC_INTERVAL:
		return set_alloc_interval(options, value);
	case OPTION_LIVE:
		options->recording.probes.is_live = true;
		return 0;
	case OPTION_SHORT_WAITS:
		options->recording.waits.is_asked = true;
		return 0;
	case OPTION_WAKER:
		options->recording.waits.has_wakers = true;
		return 0;
	case OPTION_STACK_SIZE:
		return set_stack_size(options, value);
	case OPTION_SYMBOL_CACHE:
		return set_symbol_cache(options, value);
	default:
		return apply_time(options, option, value);
	}
}

void sample_options_finish(struct options *options)
{
	if (options->recording.hz == 0)
		options->recording.hz =
			options->command == COMMAND_WATCH ? WATCH_DEFAULT_HZ : SAMPLER_DEFAULT_HZ;
	if (options->is_fp_only)
		options->recording.stack_bytes = 0;
}
