// SPDX-License-Identifier: Apache-2.0
/* Which kinds of samples a recording's options ask for, see recording.h. */
#include "recording/recording.h"

#include <stdio.h>
#include <string.h>

unsigned recording_kinds(const struct recording_options *options)
{
	return options->kinds ? options->kinds : SAMPLES_OF_CPU;
}

bool recording_has_several(const struct recording_options *options)
{
	const unsigned kinds = recording_kinds(options);

	return (kinds & (kinds - 1)) != 0 && kinds != PROBES_OF_ALLOC && kinds != PROBES_OF_LOCK;
}

unsigned recording_wall_hz(const struct recording_options *options)
{
	return options->wall_hz ? options->wall_hz : THREAD_CLOCK_DEFAULT_HZ;
}

bool recording_has_probes(const struct recording_options *options)
{
	return recording_kinds(options) & PROBES_OF_ANY;
}

bool recording_has_time(const struct recording_options *options)
{
	return recording_kinds(options) & (SAMPLES_OF_WALL | SAMPLES_OF_OFFCPU);
}

/* A kind of sizes, and with it the number of things that have the sizes. */
static unsigned with_count(unsigned kind)
{
	switch (kind) {
	case SAMPLES_OF_ALLOC:
		return SAMPLES_OF_ALLOC | SAMPLES_OF_OBJECTS;
	case SAMPLES_OF_LOCK:
		return SAMPLES_OF_LOCK | SAMPLES_OF_CONTENTIONS;
	default:
		return kind;
	}
}

/* The bits of what a word asks for; 0: no such kind. */
static unsigned kind_of_word(const char *word, size_t len)
{
	for (unsigned i = 0; i < SAMPLE_KINDS; i++) {
		const char *const name = sample_kinds[i]->profile->name;

		if (strlen(name) == len && memcmp(name, word, len) == 0)
			return with_count(1u << i);
	}
	return 0;
}

bool recording_needs_survey(const struct recording_options *options)
{
	return !selector_is_empty(&options->select) ||
	       (options->all && recording_has_time(options));
}

unsigned recording_kinds_of(const char *list, char ret_bad[16])
{
	unsigned kinds = 0;

	for (const char *word = list;; word++) {
		const size_t len = strcspn(word, ",");
		const unsigned kind = kind_of_word(word, len);

		if (!kind) {
			snprintf(ret_bad, 16, "%.*s", (int)len, word);
			return 0;
		}
		kinds |= kind;
		word += len;
		if (!*word)
			return kinds;
	}
}

const char *recording_kinds_text(unsigned kinds, char ret[RECORDING_KINDS_BYTES])
{
	size_t n = 0;

	ret[0] = '\0';
	for (unsigned i = 0; i < SAMPLE_KINDS; i++) {
		if (kinds >> i & 1)
			n += (size_t)snprintf(ret + n, RECORDING_KINDS_BYTES - n, "%s%s",
					      n ? "," : "", sample_kinds[i]->profile->name);
	}
	return ret;
}
