// SPDX-License-Identifier: Apache-2.0
/*
 * Reads option strings: items separated by commas, each "key=value", or the single word "off".
 * A value ends at the next comma; a label's key ends at its first colon. Empty items are skipped.
 */
#include "options.h"

#include <string.h>

/* One item of the text, not terminated. */
struct item {
	const char *key, *value;
	size_t key_len, value_len;
};

/* What was done with a value. */
enum verdict {
	TAKEN,
	BAD_VALUE,
};

void options_init(struct options *options)
{
	*options = (struct options){
		.threads = true,
		.lines = true,
		.framepointer = OPTIONS_FP_OFF,
		.buffer_bytes = OPTIONS_BUFFER_DEFAULT_BYTES,
		.socket = OPTIONS_SOCKET_DEFAULT,
	};
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && memcmp(text, word, len) == 0;
}

/*
 * Whether the path looks the same as a line of /proc/<pid>/maps, where some characters are escaped.
 */
static bool is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f || text[i] == '\\')
			return false;
	}
	return true;
}

static enum verdict read_socket(struct options *options, const struct item *item)
{
	static const char prefix[] = "listen:";
	const size_t prefix_len = sizeof(prefix) - 1;
	const bool listens =
		item->value_len >= prefix_len && memcmp(item->value, prefix, prefix_len) == 0;
	const char *path = item->value + (listens ? prefix_len : 0);
	const size_t len = item->value_len - (listens ? prefix_len : 0);

	if (len == 0 || path[0] != '/' || (listens && !is_plain(path, len)))
		return BAD_VALUE;
	if (len >= sizeof(options->socket)) {
		options->idle = true;
		return BAD_VALUE;
	}
	memcpy(options->socket, path, len);
	options->socket[len] = 0;
	options->listens = listens;
	return TAKEN;
}

static enum verdict read_framepointer(struct options *options, const struct item *item)
{
	static const char *const words[] = {
		[OPTIONS_FP_AUTO] = "auto", [OPTIONS_FP_ON] = "on", [OPTIONS_FP_OFF] = "off"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (is_word(item->value, item->value_len, words[i])) {
			options->framepointer = (enum options_framepointer)i;
			return TAKEN;
		}
	}
	return BAD_VALUE;
}

static enum verdict read_label(struct options *options, const struct item *item)
{
	const char *colon = memchr(item->value, ':', item->value_len);
	const size_t key_len = colon ? (size_t)(colon - item->value) : 0;
	const size_t value_len = colon ? item->value_len - key_len - 1 : 0;
	struct options_label *label = options->labels;
	size_t i = 0;

	if (key_len == 0 || key_len >= sizeof(label->key) || value_len >= sizeof(label->value))
		return BAD_VALUE;
	while (i < options->n_labels && !is_word(item->value, key_len, label[i].key))
		i++;
	if (i == OPTIONS_LABELS_MAX)
		return BAD_VALUE;
	if (i == options->n_labels)
		options->n_labels++;
	label[i] = (struct options_label){0};
	memcpy(label[i].key, item->value, key_len);
	memcpy(label[i].value, colon + 1, value_len);
	return TAKEN;
}

/* Returns how many digits the value begins with; 0: none, or they are more than most. */
static size_t read_digits(const struct item *item, uint64_t most, uint64_t *ret)
{
	size_t i = 0;

	*ret = 0;
	while (i < item->value_len && item->value[i] >= '0' && item->value[i] <= '9') {
		*ret = *ret * 10 + (uint64_t)(item->value[i++] - '0');
		if (*ret > most)
			return 0;
	}
	return i;
}

static enum verdict read_buffer(struct options *options, const struct item *item)
{
	uint64_t bytes;
	const size_t i = read_digits(item, OPTIONS_BUFFER_MAX_BYTES, &bytes);

	if (i == 0)
		return BAD_VALUE;
	if (i + 1 == item->value_len && (item->value[i] == 'k' || item->value[i] == 'K'))
		bytes <<= 10;
	else if (i + 1 == item->value_len && (item->value[i] == 'm' || item->value[i] == 'M'))
		bytes <<= 20;
	else if (i != item->value_len)
		return BAD_VALUE;
	if (bytes < OPTIONS_BUFFER_MIN_BYTES || bytes > OPTIONS_BUFFER_MAX_BYTES)
		return BAD_VALUE;
	options->buffer_bytes = (uint32_t)bytes;
	return TAKEN;
}

static enum verdict read_switch(const struct item *item, bool *ret)
{
	const bool on = is_word(item->value, item->value_len, "on");

	if (!on && !is_word(item->value, item->value_len, "off"))
		return BAD_VALUE;
	*ret = on;
	return TAKEN;
}

static enum verdict read_delay(struct options *options, const struct item *item)
{
	uint64_t seconds;
	const size_t i = read_digits(item, OPTIONS_DELAY_MAX_S, &seconds);

	if (i == 0 || i + 1 != item->value_len || item->value[i] != 's')
		return BAD_VALUE;
	options->delay_s = (uint32_t)seconds;
	return TAKEN;
}

static enum verdict read_threads(struct options *options, const struct item *item)
{
	return read_switch(item, &options->threads);
}

static enum verdict read_lines(struct options *options, const struct item *item)
{
	return read_switch(item, &options->lines);
}

static const struct option {
	const char *key;
	enum verdict (*read)(struct options *options, const struct item *item);
	const char *expected;
} known_options[] = {
	{"socket", read_socket,
	 "an absolute path of at most 107 bytes, or listen: and such a path without control "
	 "characters; no collector can dial an abstract name, which is in the network namespace"},
	{"framepointer", read_framepointer, "auto, on or off"},
	{"label", read_label,
	 "KEY:VALUE with a key of 1 to 63 bytes and a value of at most 191, "
	 "at most 8 labels"},
	{"buffer", read_buffer, "16k to 16m"},
	{"delay", read_delay, "whole seconds from 0s to 3600s, such as 10s"},
	{"threads", read_threads, "on or off"},
	{"lines", read_lines, "on or off"},
};

static void read_item(struct options *options, const struct item *item, const char *source,
		      options_warn *warn)
{
	if (is_word(item->key, item->key_len, "off") && !item->value) {
		options->idle = true;
		return;
	}
	for (size_t i = 0; i < sizeof(known_options) / sizeof(*known_options); i++) {
		const struct option *option = &known_options[i];

		if (!is_word(item->key, item->key_len, option->key))
			continue;
		if (!item->value || option->read(options, item) == BAD_VALUE)
			warn("%s: bad value for %s: expected %s", source, option->key,
			     option->expected);
		return;
	}
	warn("%s: unknown option \"%.*s\" is ignored", source,
	     (int)(item->key_len < 100 ? item->key_len : 100), item->key);
}

void options_read(struct options *options, const char *text, const char *source, options_warn *warn)
{
	while (text && *text) {
		const char *end = strchr(text, ',');
		const size_t len = end ? (size_t)(end - text) : strlen(text);
		const char *equals = memchr(text, '=', len);
		struct item item = {.key = text, .key_len = len};

		if (equals) {
			item.key_len = (size_t)(equals - text);
			item.value = equals + 1;
			item.value_len = len - item.key_len - 1;
		}
		if (len > 0)
			read_item(options, &item, source, warn);
		text = end ? end + 1 : NULL;
	}
}
