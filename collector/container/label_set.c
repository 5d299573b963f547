// SPDX-License-Identifier: Apache-2.0
/* Labels and their limits, see label_set.h. */
#include "container/label_set.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

#define CHUNK_BYTES 1024 /* most containers have some labels, and some hosts many containers */

const char *label_set_find(const struct label_set *set, const char *key)
{
	for (size_t i = 0; i < set->count; i++) {
		if (strcmp(set->labels[i].key, key) == 0)
			return set->labels[i].value;
	}
	return NULL;
}

/* Adds a label if there is room. The texts must be clean. */
static bool add(struct label_set *set, const char *key, const char *value)
{
	struct label label;

	if (label_set_find(set, key))
		return true;
	if (set->count == LABEL_SET_MAX)
		return false;
	set->texts.chunk_bytes = CHUNK_BYTES;
	label.key = arena_copy(&set->texts, key, strlen(key));
	label.value = arena_copy(&set->texts, value, strlen(value));
	if (!label.key || !label.value)
		return false;
	set->labels[set->count++] = label;
	return true;
}

void label_set_add_parts(struct label_set *set, const char *key, size_t key_len, const char *value,
			 size_t value_len)
{
	char clean_key[LABEL_KEY_BYTES], clean_value[LABEL_VALUE_BYTES];

	if (key_len == 0)
		return;
	/* A label that was cut would be a different label. */
	if (!utf8_clean(key, key_len, clean_key, sizeof(clean_key)) ||
	    !utf8_clean(value, value_len, clean_value, sizeof(clean_value)) ||
	    !add(set, clean_key, clean_value))
		set->left_out++;
}

void label_set_add(struct label_set *set, const char *key, const char *value)
{
	label_set_add_parts(set, key, strlen(key), value, strlen(value));
}

void label_set_add_all(struct label_set *set, const struct label_set *from)
{
	for (size_t i = 0; i < from->count; i++)
		set->left_out += !add(set, from->labels[i].key, from->labels[i].value);
}

void label_set_fini(struct label_set *set)
{
	arena_fini(&set->texts);
	*set = (struct label_set){0};
}
