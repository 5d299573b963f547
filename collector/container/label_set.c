// SPDX-License-Identifier: Apache-2.0
/*
 * Labels, and texts of outside made harmless, see label_set.h. UTF-8 is taken as RFC 3629 has it:
 * no surrogates, nothing above U+10FFFF, no longer forms than needed.
 */
#include "container/label_set.h"

#include <stdbool.h>
#include <string.h>

/* Length of the character at text and the character; 0: it is no UTF-8. */
static size_t decode(const unsigned char *text, size_t len, uint32_t *ret)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char first = text[0];
	const size_t n = first < 0x80	      ? 1
			 : first >> 5 == 0x06 ? 2
			 : first >> 4 == 0x0e ? 3
			 : first >> 3 == 0x1e ? 4
					      : 0;
	uint32_t c = n == 1 ? first : first & (0x7fu >> n);

	if (n == 0 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if (text[i] >> 6 != 2)
			return 0;
		c = c << 6 | (text[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*ret = c;
	return n;
}

/*
 * Controls, what turns the direction of writing, line ends of Unicode's, and the byte order mark.
 */
static bool is_harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

bool outside_text(const char *text, size_t len, char *ret, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t used = 0, i = 0;

	while (i < len) {
		uint32_t c = 0;
		const size_t n = decode(at + i, len - i, &c);
		const bool is_bad = n == 0 || is_harmful(c);
		const size_t needed = is_bad ? 1 : n;

		if (used + needed >= size)
			break;
		if (is_bad)
			ret[used] = '?';
		else
			memcpy(ret + used, text + i, n);
		used += needed;
		i += n ? n : 1;
	}
	ret[used] = '\0';
	return i == len;
}

const char *label_set_find(const struct label_set *set, const char *key)
{
	for (size_t i = 0; i < set->count; i++) {
		if (strcmp(set->labels[i].key, key) == 0)
			return set->labels[i].value;
	}
	return NULL;
}

/* The texts are clean and have room. */
static bool add(struct label_set *set, const char *key, const char *value)
{
	struct label label;

	if (label_set_find(set, key))
		return true;
	if (set->count == LABEL_SET_MAX)
		return false;
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
	/* A label that is cut would be another. */
	if (!outside_text(key, key_len, clean_key, sizeof(clean_key)) ||
	    !outside_text(value, value_len, clean_value, sizeof(clean_value)) ||
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
