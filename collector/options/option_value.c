// SPDX-License-Identifier: Apache-2.0
/* Reads values of options, see option_value.h. */
#include "options/option_value.h"

#include "base/log.h"
#include "encode/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_BYTES 256

int option_bad_value(const char *told, const char *text, const char *why)
{
	log_error("%s %s: %s", told, text, why);
	return -EINVAL;
}

int option_bad_word(const char *told, const char *text, const char *words)
{
	log_error("%s %s: no such value; there are: %s", told, text, words);
	return -EINVAL;
}

static bool is_within(const struct option_range *range, uint64_t value)
{
	return value >= range->least && value <= range->most;
}

int option_count(const char *told, const char *text, const struct option_range *range,
		 uint64_t *ret)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && !*end && !errno && is_within(range, value)) {
		*ret = value;
		return 0;
	}
	log_error("%s %s: a whole number%s%s is needed, from %" PRIu64 " to %" PRIu64, told, text,
		  range->what[0] ? " " : "", range->what, range->least, range->most);
	return -EINVAL;
}

/* form: "a time" or "a size" */
static int bad_quantity(const char *told, const char *text, const char *form,
			const struct option_range *range)
{
	log_error("%s %s: %s is needed: %s such as %s, from %s", told, text, range->what, form,
		  range->example, range->limits);
	return -EINVAL;
}

int option_time(const char *told, const char *text, const struct option_range *range,
		uint64_t *ret_sec)
{
	uint64_t seconds;

	if (!quantity_parse_time(text, &seconds) || !is_within(range, seconds))
		return bad_quantity(told, text, "a time", range);
	*ret_sec = seconds;
	return 0;
}

int option_size(const char *told, const char *text, const struct option_range *range,
		uint64_t *ret_bytes)
{
	uint64_t bytes;

	if (!quantity_parse_size(text, &bytes) || !is_within(range, bytes))
		return bad_quantity(told, text, "a size", range);
	*ret_bytes = bytes;
	return 0;
}

int option_number(const char *told, const char *text, double above, double most, double *ret)
{
	const char *end;
	double value;

	if (quantity_parse_digits(text, &end, &value) && !*end && value > above && value <= most) {
		*ret = value;
		return 0;
	}
	log_error("%s %s: digits are needed, with a point or without: a number greater than %.0f, "
		  "up to %.0f",
		  told, text, above, most);
	return -EINVAL;
}

int option_path(const char *told, const char *text, const char **ret)
{
	if (!text[0])
		return option_bad_value(told, text, "a path is needed");
	*ret = text;
	return 0;
}

/* The choice of a word. NULL: there is none. */
static const struct option_choice *find(const struct option_choice *choices, const char *word,
					size_t len)
{
	for (; choices->word; choices++) {
		if (strlen(choices->word) == len && memcmp(choices->word, word, len) == 0)
			return choices;
	}
	return NULL;
}

static int bad_choice(const char *told, const char *text, const struct option_choice *choices)
{
	char words[WORDS_BYTES] = "";
	size_t len = 0;

	for (; choices->word && len < sizeof(words); choices++)
		len += (size_t)snprintf(words + len, sizeof(words) - len, "%s%s", len ? " " : "",
					choices->word);
	return option_bad_word(told, text, words);
}

int option_choice(const char *told, const char *text, const struct option_choice *choices,
		  uint64_t *ret)
{
	const struct option_choice *const choice = find(choices, text, strlen(text));

	if (!choice)
		return bad_choice(told, text, choices);
	*ret = choice->value;
	return 0;
}

int option_list(const char *told, const char *text, const struct option_choice *choices,
		uint64_t *ret)
{
	uint64_t values = 0;

	for (const char *word = text;; word++) {
		const size_t len = strcspn(word, ",");
		const struct option_choice *const choice = find(choices, word, len);

		if (!choice)
			return bad_choice(told, text, choices);
		values |= choice->value;
		word += len;
		if (!*word)
			break;
	}
	*ret = values;
	return 0;
}
