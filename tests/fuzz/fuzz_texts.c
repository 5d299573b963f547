// SPDX-License-Identifier: Apache-2.0
/*
 * Texts from outside on their way into files: JSON, XML and labels. What comes out is valid, means
 * the cleaned text and nothing else, and a cleaned text stays as it is when it is cleaned again.
 */
#include "fuzzer.h"

#include "container/label_set.h"
#include "encode/json.h"
#include "encode/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_clean(const char *text, size_t len)
{
	uint32_t code;

	for (size_t at = 0; at < len;) {
		at += utf8_next(text + at, len - at, &code);
		if (code == UTF8_BAD)
			return false;
	}
	return true;
}

/* The characters that text_next gives, each bad one as the replacement character. */
static char *decoded(const char *text)
{
	char *const ret = malloc(3 * strlen(text) + UTF8_MAX_BYTES);
	size_t len = 0;
	uint32_t code;

	if (!ret)
		abort();
	while ((code = text_next(&text)) != TEXT_END) {
		char bytes[UTF8_MAX_BYTES];
		const size_t n = utf8_encode(code == TEXT_BAD ? 0xfffd : code, bytes);

		if (n == 0)
			abort();
		memcpy(ret + len, bytes, n);
		len += n;
	}
	ret[len] = '\0';
	return ret;
}

static void check_json(const char *text, const char *meant)
{
	char *written = NULL;
	size_t len;
	struct json_out out = {.stream = open_memstream(&written, &len)};
	json_t *value;

	if (!out.stream)
		abort();
	json_out_text(&out, text);
	if (fflush(out.stream) != 0 || json_out_fini(&out) != 0)
		abort();
	fclose(out.stream);
	value = json_loadb(written, len, JSON_DECODE_ANY, NULL);
	if (!json_is_string(value) || strcmp(json_string_value(value), meant) != 0)
		abort();
	json_decref(value);
	free(written);
}

/* Takes the five entities back. */
static char *unescaped(const char *xml)
{
	static const struct {
		const char *entity;
		char c;
	} entities[] = {{"&lt;", '<'},	 {"&gt;", '>'},	  {"&amp;", '&'},
			{"&quot;", '"'}, {"&#39;", '\''}, {"&apos;", '\''}};
	char *const ret = malloc(strlen(xml) + 1);
	size_t len = 0;

	if (!ret)
		abort();
	while (*xml) {
		size_t n = 1;

		if (strchr("<>\"", *xml))
			abort();
		ret[len] = *xml;
		for (size_t i = 0; *xml == '&' && i < sizeof(entities) / sizeof(*entities); i++) {
			if (strncmp(xml, entities[i].entity, strlen(entities[i].entity)) == 0) {
				n = strlen(entities[i].entity);
				ret[len] = entities[i].c;
			}
		}
		if (*xml == '&' && n == 1)
			abort();
		len++;
		xml += n;
	}
	ret[len] = '\0';
	return ret;
}

static void check_xml(const char *text, const char *meant)
{
	char *written = NULL, *read;
	size_t len;
	FILE *const stream = open_memstream(&written, &len);

	if (!stream)
		abort();
	text_write_xml(stream, text);
	fclose(stream);
	if (strlen(written) != len || !is_clean(written, len))
		abort();
	read = unescaped(written);
	if (strcmp(read, meant) != 0)
		abort();
	free(read);
	free(written);
}

static void check_clean(const char *data, size_t size)
{
	char *const clean = malloc(size + 1), *const again = malloc(size + 1);
	char small[16];
	bool is_whole;

	if (!clean || !again || !utf8_clean(data, size, clean, size + 1) || strlen(clean) > size ||
	    !is_clean(clean, strlen(clean)))
		abort();
	if (!utf8_clean(clean, strlen(clean), again, size + 1) || strcmp(clean, again) != 0)
		abort();
	is_whole = utf8_clean(data, size, small, sizeof(small));
	if (is_whole != (strlen(clean) < sizeof(small)) ||
	    strncmp(clean, small, strlen(small)) != 0 || !is_clean(small, strlen(small)) ||
	    (!is_whole && strlen(small) + UTF8_MAX_BYTES < sizeof(small)))
		abort();
	if (utf8_cut(data, size, 8) > 8 || utf8_cut(clean, strlen(clean), 8) > 8 ||
	    !is_clean(clean, utf8_cut(clean, strlen(clean), 8)))
		abort();
	free(clean);
	free(again);
}

static void check_labels(const char *data, size_t size)
{
	struct label_set set = {0}, copy = {0};
	uint64_t added = 0;

	for (size_t at = 0; at + 2 <= size; added++) {
		const size_t key = (uint8_t)data[at] % 32, value = (uint8_t)data[at + 1] % 64;
		const size_t left = size - at - 2;

		if (key + value > left)
			break;
		label_set_add_parts(&set, data + at + 2, key, data + at + 2 + key, value);
		at += 2 + key + value;
	}
	label_set_add_all(&copy, &set);
	if (set.count > LABEL_SET_MAX || copy.count != set.count ||
	    set.count + set.left_out > added)
		abort();
	for (size_t i = 0; i < set.count; i++) {
		const struct label *const label = &set.labels[i];

		if (!is_clean(label->key, strlen(label->key)) ||
		    !is_clean(label->value, strlen(label->value)) ||
		    strlen(label->key) >= LABEL_KEY_BYTES ||
		    strlen(label->value) >= LABEL_VALUE_BYTES ||
		    label_set_find(&set, label->key) != label->value ||
		    strcmp(label_set_find(&copy, label->key), label->value) != 0)
			abort();
	}
	label_set_fini(&set);
	label_set_fini(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *const text = strndup((const char *)data, size);
	char *meant;

	if (!text)
		return 0;
	meant = decoded(text);
	if (!is_clean(meant, strlen(meant)))
		abort();
	check_json(text, meant);
	check_xml(text, meant);
	check_clean((const char *)data, size);
	check_labels((const char *)data, size);
	free(meant);
	free(text);
	return 0;
}
