// SPDX-License-Identifier: Apache-2.0
/* Takes lines of perf script apart, see perf_header.h. */
#include "import/perf_header.h"

#include <string.h>

#define PID_BYTES 21u /* two numbers of 32 bits and a slash */

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static size_t digits_of(struct perf_text text)
{
	size_t n = 0;

	while (n < text.len && is_digit(text.text[n]))
		n++;
	return n;
}

static void trim(struct perf_text *text)
{
	while (text->len > 0 && is_space(text->text[0])) {
		text->text++;
		text->len--;
	}
	while (text->len > 0 && is_space(text->text[text->len - 1]))
		text->len--;
}

/* Takes the first word off rest; returns an empty word at the end. */
static struct perf_text take_word(struct perf_text *rest)
{
	struct perf_text word;

	trim(rest);
	word = (struct perf_text){.text = rest->text};
	while (word.len < rest->len && !is_space(rest->text[word.len]))
		word.len++;
	rest->text += word.len;
	rest->len -= word.len;
	return word;
}

/* Whether the word is PID or PID/TID. */
static bool is_pid(struct perf_text word)
{
	const size_t pid = digits_of(word);
	const struct perf_text rest = {word.text + pid + 1, word.len - pid - 1};

	if (word.len > PID_BYTES)
		return false;
	if (pid == word.len)
		return pid > 0;
	return pid > 0 && word.text[pid] == '/' && rest.len > 0 && digits_of(rest) == rest.len;
}

/* Whether the word is a CPU, such as [003]. */
static bool is_cpu(struct perf_text word)
{
	const struct perf_text inner = {word.text + 1, word.len - 2};

	return word.len > 2 && word.text[0] == '[' && word.text[word.len - 1] == ']' &&
	       digits_of(inner) == inner.len;
}

/* Whether the word is a time, such as 4794564.001000: */
static bool is_time(struct perf_text word)
{
	const size_t whole = digits_of(word);
	const struct perf_text rest = {word.text + whole + 1, word.len - whole - 1};

	return whole > 0 && whole < word.len && word.text[whole] == '.' && rest.len > 1 &&
	       word.text[word.len - 1] == ':' && digits_of(rest) == rest.len - 1;
}

static bool is_event(struct perf_text word)
{
	return word.len > 1 && word.text[word.len - 1] == ':' && !is_time(word);
}

static void set_pid(struct perf_header *header, struct perf_text word)
{
	const size_t n = digits_of(word);

	header->pid = (struct perf_text){word.text, n};
	header->tid = n < word.len ? (struct perf_text){word.text + n + 1, word.len - n - 1}
				   : (struct perf_text){0};
	if (n < word.len)
		return;
	header->tid = header->pid; /* where one number stands, the number is the thread's */
	header->pid = (struct perf_text){0};
}

static uint64_t number_of(struct perf_text word)
{
	uint64_t value = 0;

	if (word.len == 0 || digits_of(word) != word.len)
		return 0;
	for (size_t i = 0; i < word.len; i++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(word.text[i] - '0'), &value))
			return 0;
	return value;
}

/* Reads [period] event: [rest]. */
static void read_event(struct perf_header *header, struct perf_text rest)
{
	struct perf_text after = rest;
	struct perf_text word = take_word(&after);

	if (word.len > 0 && digits_of(word) == word.len) {
		header->period = number_of(word);
		word = take_word(&after);
	}
	if (!is_event(word)) {
		header->period = 0;
		return;
	}
	header->event = (struct perf_text){word.text, word.len - 1};
	trim(&after);
	header->frame = after;
}

/* Reads the words behind the PID. strict: a CPU, a time or an event has to be among the words. */
static bool read_tail(struct perf_header *header, struct perf_text rest, bool strict)
{
	struct perf_text after = rest;
	struct perf_text word = take_word(&after);
	bool is_sure = false;

	if (is_cpu(word)) {
		is_sure = true;
		rest = after;
		word = take_word(&after);
	}
	if (is_time(word)) {
		is_sure = true;
		rest = after;
	}
	read_event(header, rest);
	return is_sure || header->event.len > 0 || !strict;
}

static bool read_header(const char *line, size_t len, bool strict, struct perf_header *ret)
{
	struct perf_text rest = {line, len};
	const char *comm;

	trim(&rest);
	comm = rest.text;
	for (struct perf_text word = take_word(&rest); word.len > 0; word = take_word(&rest)) {
		if (word.text == comm || !is_pid(word))
			continue;
		*ret = (struct perf_header){.comm = {comm, (size_t)(word.text - comm)}};
		trim(&ret->comm);
		set_pid(ret, word);
		if (read_tail(ret, rest, strict))
			return true;
	}
	return false;
}

bool perf_read_header(const char *line, size_t len, struct perf_header *ret)
{
	if (len == 0 || line[0] == '\t')
		return false;
	return read_header(line, len, true, ret) || read_header(line, len, false, ret);
}

/* Whether the line is a header for certain, for a reader that does not know the format yet. */
bool perf_is_header(const char *line, size_t len)
{
	struct perf_header header;

	return len > 0 && line[0] != '\t' && read_header(line, len, true, &header) &&
	       header.event.len > 0;
}

/* Takes an offset such as +0x1f off the end of name. */
static void split_offset(struct perf_text *name, struct perf_text *ret_offset)
{
	size_t at = name->len;

	*ret_offset = (struct perf_text){0};
	while (at > 0 && is_hex(name->text[at - 1]))
		at--;
	if (at < 4 || at == name->len || memcmp(name->text + at - 3, "+0x", 3) != 0)
		return;
	*ret_offset = (struct perf_text){name->text + at, name->len - at};
	name->len = at - 3;
}

/* Splits "name (file)" at the parenthesis that the last ')' closes: "x (/tmp/y (deleted))". */
static void split_file(struct perf_text all, struct perf_frame *ret)
{
	size_t open = 0;

	ret->name = all;
	ret->file = (struct perf_text){0};
	if (all.len == 0 || all.text[all.len - 1] != ')')
		return;
	for (size_t i = all.len - 1; i > 0; i--) {
		if (all.text[i] == ')')
			open++;
		if (all.text[i] != '(' || --open > 0)
			continue;
		if (!is_space(all.text[i - 1]))
			return;
		ret->file = (struct perf_text){all.text + i + 1, all.len - i - 2};
		ret->name.len = i - 1;
		trim(&ret->name);
		return;
	}
}

bool perf_read_frame(const char *line, size_t len, struct perf_frame *ret)
{
	struct perf_text rest = {line, len};

	trim(&rest);
	ret->pc = (struct perf_text){rest.text, 0};
	while (ret->pc.len < rest.len && is_hex(rest.text[ret->pc.len]))
		ret->pc.len++;
	if (ret->pc.len == 0 || ret->pc.len == rest.len || !is_space(rest.text[ret->pc.len]))
		return false;
	rest.text += ret->pc.len;
	rest.len -= ret->pc.len;
	trim(&rest);
	split_file(rest, ret);
	split_offset(&ret->name, &ret->offset);
	return ret->name.len > 0;
}

/* A frame for certain begins with a space, as perf writes frames, and names a file. */
bool perf_is_frame(const char *line, size_t len)
{
	struct perf_frame frame;

	return len > 0 && is_space(line[0]) && perf_read_frame(line, len, &frame) &&
	       frame.file.len > 0 && frame.pc.len >= 4;
}
