// SPDX-License-Identifier: Apache-2.0
/* Parses requests, see publish_request.h. */
#include "publish/publish_request.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

struct text {
	const char *data;
	size_t len;
};

/* Takes a word, and the space behind it. An empty word is none. */
static struct text take_word(struct text *text)
{
	const char *const space = memchr(text->data, ' ', text->len);
	const struct text word = {text->data, space ? (size_t)(space - text->data) : text->len};
	const size_t taken = word.len + (space != NULL);

	text->data += taken;
	text->len -= taken;
	return word;
}

static bool is_word(struct text word, const char *wanted)
{
	return word.len == strlen(wanted) && memcmp(word.data, wanted, word.len) == 0;
}

static bool take_number(struct text *text, uint64_t most, uint64_t *ret)
{
	const struct text word = take_word(text);
	uint64_t value = 0;

	for (size_t i = 0; i < word.len; i++) {
		const unsigned digit = (unsigned char)word.data[i] - (unsigned)'0';

		if (digit > 9 || value > (most - digit) / 10)
			return false;
		value = 10 * value + digit;
	}
	*ret = value;
	return word.len > 0;
}

/* The last number, which may be missing. */
static const char *take_from(struct text *text, struct publish_request *request)
{
	if (text->len > 0 && !take_number(text, UINT64_MAX, &request->from))
		return "FROM is no decimal number: it is the next of the answer before";
	return text->len > 0 ? "there are more words than the request has" : NULL;
}

static const char *parse_code(struct text *text, struct publish_request *request)
{
	uint64_t pid;

	if (!take_number(text, INT_MAX, &pid) || pid == 0)
		return "a PID is needed: the pid of an answer to jvms";
	request->pid = (pid_t)pid;
	if (!take_number(text, UINT64_MAX, &request->start_ticks))
		return "a start time is needed: the start_ticks of an answer to jvms";
	return take_from(text, request);
}

const char *publish_request_parse(const char *data, size_t len, struct publish_request *ret)
{
	struct publish_request request = {0};
	struct text text = {data, len}, word;
	const char *why;

	if (text.len > 0 && text.data[text.len - 1] == '\n')
		text.len--;
	word = take_word(&text);
	if (is_word(word, "jvms"))
		request.form = PUBLISH_JVMS;
	else if (is_word(word, "code.wire"))
		request.form = PUBLISH_CODE_WIRE;
	else if (is_word(word, "code.json"))
		request.form = PUBLISH_CODE_JSON;
	else
		return "the request is none of jvms, code.wire and code.json";
	why = request.form == PUBLISH_JVMS ? take_from(&text, &request)
					   : parse_code(&text, &request);
	if (!why)
		*ret = request;
	return why;
}
