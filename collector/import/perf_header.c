// SPDX-License-Identifier: Apache-2.0
/* Takes lines of perf script apart, see perf_header.h. */
#include "import/perf_header.h"

#include "base/utf8.h"

#include <string.h>

#define PID_BYTES     23u /* two numbers of 32 bits with their signs, and a slash */
#define MISC_BYTES    3u
#define MIN_PC_DIGITS 4u
#define PC_COLUMNS    16u /* to which perf fills up an address */
#define NS_PER_SEC    UINT64_C(1000000000)
#define RECORD	      "PERF_RECORD_"

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static size_t digits_of(struct perf_text text)
{
	size_t n = 0;

	while (n < text.len && ascii_is_digit(text.text[n]))
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

/* The length of the PID at the beginning of text: digits, or -1 where perf knows none. */
static size_t pid_len(struct perf_text text)
{
	const size_t sign = text.len > 0 && text.text[0] == '-';
	const size_t digits = digits_of((struct perf_text){text.text + sign, text.len - sign});

	return digits > 0 ? sign + digits : 0;
}

/* Whether the word is PID or PID/TID. */
static bool is_pid(struct perf_text word)
{
	const size_t pid = pid_len(word);
	const struct perf_text rest = {word.text + pid + 1, word.len - pid - 1};

	if (word.len > PID_BYTES)
		return false;
	if (pid == word.len)
		return pid > 0;
	return pid > 0 && word.text[pid] == '/' && rest.len > 0 && pid_len(rest) == rest.len;
}

/* Whether the word is a CPU, such as [003], or [-01] where perf knows none. */
static bool is_cpu(struct perf_text word)
{
	const struct perf_text inner = {word.text + 1, word.len - 2};

	return word.len > 2 && word.text[0] == '[' && word.text[word.len - 1] == ']' &&
	       pid_len(inner) == inner.len;
}

/* Whether the word is a time, such as 4794564.001000: */
static bool is_time(struct perf_text word)
{
	const size_t whole = digits_of(word);
	const struct perf_text rest = {word.text + whole + 1, word.len - whole - 1};

	return whole > 0 && whole < word.len && word.text[whole] == '.' && rest.len > 1 &&
	       word.text[word.len - 1] == ':' && digits_of(rest) == rest.len - 1;
}

/* Whether the word is of the field misc, such as U, K or Sp. */
static bool is_misc(struct perf_text word)
{
	if (word.len == 0 || word.len > MISC_BYTES)
		return false;
	for (size_t i = 0; i < word.len; i++)
		if (!memchr("KUHGgMESp", word.text[i], strlen("KUHGgMESp")))
			return false;
	return true;
}

static bool is_event(struct perf_text word)
{
	return word.len > 1 && word.text[word.len - 1] == ':' && !is_time(word);
}

static bool is_record(struct perf_text word)
{
	return word.len > strlen(RECORD) && memcmp(word.text, RECORD, strlen(RECORD)) == 0;
}

static void set_pid(struct perf_header *header, struct perf_text word)
{
	const size_t n = pid_len(word);

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

/* Nanoseconds of a time, which has six digits behind the point, or nine. 0 for what is too long. */
static uint64_t time_of(struct perf_text word)
{
	const size_t whole = digits_of(word);
	const struct perf_text part = {word.text + whole + 1, word.len - whole - 2};
	uint64_t ns = number_of((struct perf_text){word.text, whole});
	uint64_t unit = NS_PER_SEC;

	if (__builtin_mul_overflow(ns, NS_PER_SEC, &ns))
		return 0;
	for (size_t i = 0; i < part.len && unit > 1; i++) {
		unit /= 10;
		if (__builtin_add_overflow(ns, unit * (uint64_t)(part.text[i] - '0'), &ns))
			return 0;
	}
	return ns;
}

/* Reads [period] event: [rest], or the name of another record and what it says. */
static void read_event(struct perf_header *header, struct perf_text rest)
{
	struct perf_text after = rest;
	struct perf_text word = take_word(&after);

	if (is_record(word)) {
		header->record = word;
		header->rest = after;
		return;
	}
	if (word.len > 0 && digits_of(word) == word.len) {
		header->period = number_of(word);
		word = take_word(&after);
	}
	if (!is_event(word)) {
		header->period = 0;
		header->rest = rest;
		return;
	}
	header->event = (struct perf_text){word.text, word.len - 1};
	trim(&after);
	header->rest = after;
}

static struct perf_text first_word(struct perf_text rest)
{
	return take_word(&rest);
}

/*
 * Reads the words behind the PID, and says how sure it is that the line is a header. A word between
 * processor and time is a column, whatever it says: -L has "d..1." there.
 */
static enum perf_header_sort read_tail(struct perf_header *header, struct perf_text rest)
{
	struct perf_text after = rest;
	struct perf_text word = take_word(&after);
	enum perf_header_sort sort = PERF_HEADER_NONE;
	const bool has_cpu = is_cpu(word);

	if (word.len == 0)
		return PERF_HEADER_BARE;
	if (has_cpu) {
		sort = PERF_HEADER_FULL;
		rest = after;
		word = take_word(&after);
	}
	if (is_misc(word) || (has_cpu && is_time(first_word(after)))) {
		rest = after;
		word = take_word(&after);
	}
	if (is_time(word)) {
		sort = PERF_HEADER_FULL;
		header->has_time = true;
		header->time_ns = time_of(word);
		rest = after;
	}
	read_event(header, rest);
	if (header->record.len > 0)
		return PERF_HEADER_FULL;
	return sort == PERF_HEADER_NONE && header->event.len > 0 ? PERF_HEADER_EVENT : sort;
}

/* Reads what stands behind comm: at is the word of the PID, or where there is none, of the time. */
static enum perf_header_sort read_behind(struct perf_text comm, struct perf_text at,
					 struct perf_text rest, struct perf_header *ret)
{
	*ret = (struct perf_header){.comm = comm};
	trim(&ret->comm);
	if (is_pid(at)) {
		set_pid(ret, at);
		return read_tail(ret, rest);
	}
	rest = (struct perf_text){at.text, (size_t)(rest.text + rest.len - at.text)};
	return is_time(at) ? read_tail(ret, rest) : PERF_HEADER_NONE;
}

/*
 * A name of a thread may hold what looks like a PID: the surest reading of the line counts, and
 * among equals the first.
 */
enum perf_header_sort perf_read_header(const char *line, size_t len, struct perf_header *ret)
{
	enum perf_header_sort best = PERF_HEADER_NONE;
	struct perf_text rest = {line, len};
	const char *comm;

	if (len == 0 || line[0] == '\t')
		return best;
	trim(&rest);
	comm = rest.text;
	for (struct perf_text word = take_word(&rest); word.len > 0; word = take_word(&rest)) {
		const struct perf_text before = {comm, (size_t)(word.text - comm)};
		struct perf_header header;
		enum perf_header_sort sort;

		if (before.len == 0)
			continue;
		sort = read_behind(before, word, rest, &header);
		if (sort <= best)
			continue;
		best = sort;
		*ret = header;
		if (best == PERF_HEADER_FULL)
			return best;
	}
	if (best > PERF_HEADER_NONE || is_space(line[0]))
		return best;
	*ret = (struct perf_header){.comm = {line, len}};
	trim(&ret->comm);
	return PERF_HEADER_COMM;
}

/* Takes an offset such as +0x1f off the end of name. */
static void split_offset(struct perf_text *name, struct perf_text *ret_offset)
{
	size_t at = name->len;

	*ret_offset = (struct perf_text){0};
	while (at > 0 && ascii_hex_lower(name->text[at - 1]) >= 0)
		at--;
	if (at < 4 || at == name->len || memcmp(name->text + at - 3, "+0x", 3) != 0)
		return;
	*ret_offset = (struct perf_text){name->text + at, name->len - at};
	name->len = at - 3;
}

/* Takes the offset in the file, +dsoff, off the end of the file's name. */
static void cut_file_offset(struct perf_text *file)
{
	struct perf_text offset;

	split_offset(file, &offset);
}

/*
 * Splits "name (file)" at the parenthesis that the last ')' closes: "x (/tmp/y (deleted))". Where
 * perf found no symbol, and was not asked to say so, there is no name.
 */
static void split_file(struct perf_text all, struct perf_frame *ret)
{
	size_t open = 0;

	ret->name = all;
	ret->file = (struct perf_text){0};
	if (all.len < 2 || all.text[all.len - 1] != ')')
		return;
	for (size_t i = all.len; i-- > 0;) {
		if (all.text[i] == ')')
			open++;
		if (all.text[i] != '(' || --open > 0)
			continue;
		if (i > 0 && !is_space(all.text[i - 1]))
			return;
		ret->file = (struct perf_text){all.text + i + 1, all.len - i - 2};
		cut_file_offset(&ret->file);
		ret->name.len = i;
		trim(&ret->name);
		return;
	}
}

bool perf_read_frame(const char *line, size_t len, struct perf_frame *ret)
{
	struct perf_text rest = {line, len};

	trim(&rest);
	ret->pc = (struct perf_text){rest.text, 0};
	while (ret->pc.len < rest.len && ascii_hex_lower(rest.text[ret->pc.len]) >= 0)
		ret->pc.len++;
	if (ret->pc.len == 0 || (ret->pc.len < rest.len && !is_space(rest.text[ret->pc.len])))
		return false;
	rest.text += ret->pc.len;
	rest.len -= ret->pc.len;
	trim(&rest);
	split_file(rest, ret);
	split_offset(&ret->name, &ret->offset);
	return true;
}

/* The length of the hexadecimal word at the beginning of text, 0: there is none. */
static size_t hex_word(struct perf_text text)
{
	size_t n = 0;

	while (n < text.len && ascii_hex_lower(text.text[n]) >= 0)
		n++;
	return n < text.len && is_space(text.text[n]) ? n : 0;
}

/*
 * Where the frame begins behind the address that data was at: "7f0010 var+0x0 (/app)  1004 f
 * (/app)"
 */
static struct perf_text past_data(struct perf_text text)
{
	struct perf_text rest = text;

	for (size_t i = 0; i + 2 < text.len; i++) {
		if (text.text[i] != ')' || !is_space(text.text[i + 1]))
			continue;
		rest = (struct perf_text){text.text + i + 1, text.len - i - 1};
		trim(&rest);
		if (hex_word(rest) >= MIN_PC_DIGITS)
			return rest;
	}
	rest = (struct perf_text){text.text + hex_word(text), text.len - hex_word(text)};
	trim(&rest);
	return hex_word(rest) >= MIN_PC_DIGITS ? rest : text;
}

bool perf_read_only_frame(const struct perf_header *header, struct perf_frame *ret)
{
	const struct perf_text text = past_data(header->rest);

	return hex_word(text) > 0 && perf_read_frame(text.text, text.len, ret) && ret->file.len > 0;
}

bool perf_is_frame(const char *line, size_t len)
{
	struct perf_frame frame;

	if (len == 0 || !perf_read_frame(line, len, &frame))
		return false;
	if (line[0] == '\t' && frame.pc.text + frame.pc.len == line + 1 + PC_COLUMNS)
		return true;
	return line[len - 1] == ')' && frame.file.len > 0 &&
	       (is_space(line[0]) || frame.pc.len >= MIN_PC_DIGITS);
}
