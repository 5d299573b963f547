// SPDX-License-Identifier: Apache-2.0
/* Parses the words that choose the names of a perf map, see perf_map_style.h. */
#include "code/perf_map_style.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const struct {
	const char *word;
	struct perf_map_style style;
} words[] = {
	{"dotted", {.dotted = true}},
	{"dottedclass", {.dotted = true}},
	{"signatures", {.signatures = true}},
	{"msig", {.signatures = true}},
	{"sourcepos", {.sourcepos = true}},
	{"unfold", {.unfold = PERF_MAP_UNFOLD}},
	{"unfoldall", {.unfold = PERF_MAP_UNFOLD_ALL}},
	{"simple", {.unfold = PERF_MAP_UNFOLD_SIMPLE}},
	{"unfoldsimple", {.unfold = PERF_MAP_UNFOLD_SIMPLE}},
};

static const struct perf_map_style *find_word(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].word) == len && memcmp(words[i].word, word, len) == 0)
			return &words[i].style;
	}
	return NULL;
}

int perf_map_style_parse(const char *list, struct perf_map_style *ret)
{
	struct perf_map_style style = {0};

	for (const char *word = list;; word++) {
		const size_t len = strcspn(word, ",");
		const struct perf_map_style *found = find_word(word, len);

		if (!found || (found->unfold && style.unfold && found->unfold != style.unfold))
			return -EINVAL;
		style.dotted |= found->dotted;
		style.signatures |= found->signatures;
		style.sourcepos |= found->sourcepos;
		if (found->unfold)
			style.unfold = found->unfold;
		word += len;
		if (!*word)
			break;
	}
	*ret = style;
	return 0;
}

const char *perf_map_style_words(void)
{
	return "dotted, signatures, sourcepos, and one of unfold, unfoldall, simple";
}
