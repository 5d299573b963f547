// SPDX-License-Identifier: Apache-2.0
/*
 * libiberty's demanglers with a limit of their output, see demangle.h.
 *
 * Both manglings have back references, so a name of 100 bytes can stand for a text of 2^50.
 * libiberty limits its recursion but not its output, and its output callback cannot ask it to stop.
 * Therefore the callback leaves by longjmp when the buffer is full. The C++ demangler has nothing
 * on the heap then. The Rust demangler may leak one small buffer, and only for a Punycode
 * identifier in a name made to overflow.
 */
#include "symbolize/demangle.h"

#include <errno.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#define WRITTEN_MAX (1u << 20) /* limit before shortening */
#define OPERATOR    "operator"
#define PLT_SUFFIX  "@plt"

typedef int demangler(const char *name, int options, demangle_callbackref append, void *opaque);

struct output {
	char *buf;
	size_t size, len;
	jmp_buf full;
	bool is_short;
	bool in_operator; /* the last character belonged to operator<< or a similar operator */
	size_t seen, depth, outer;
	char last[sizeof(OPERATOR) - 1]; /* the characters read last; the newest is at the end */
};

static const char *const words[DEMANGLE_STYLES] = {"plain", "simple", "full"};

int demangle_style_of(const char *word, enum demangle_style *ret)
{
	for (int i = 0; i < DEMANGLE_STYLES; i++) {
		if (strcmp(word, words[i]) == 0) {
			*ret = (enum demangle_style)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *demangle_style_word(enum demangle_style style)
{
	return words[style];
}

const char *demangle_style_words(void)
{
	return "plain simple full";
}

bool demangle_is_candidate(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

static void put(struct output *out, const char *text, size_t len)
{
	if (len >= out->size - out->len)
		longjmp(out->full, 1);
	if (len > 0) /* a text of no bytes may be NULL */
		memcpy(out->buf + out->len, text, len);
	out->len += len;
}

/* Whether c is an angle bracket, and not part of operator<, operator->> or ->. */
static bool is_bracket(struct output *out, char c)
{
	const bool is_sign = c == '<' || c == '>' || c == '=' || c == '-';
	const size_t n = sizeof(out->last);

	out->in_operator = is_sign && (out->in_operator || memcmp(out->last, OPERATOR, n) == 0);
	if (out->in_operator)
		return false;
	return c == '<' || (c == '>' && out->last[n - 1] != '-');
}

/*
 * Writes "..." for the text in angle brackets. Rust's <Type as Trait>::method begins with a
 * bracket: that bracket stays, and only brackets within it are shortened.
 */
static void put_short(struct output *out, char c)
{
	const bool bracket = is_bracket(out, c);

	if (out->seen++ == 0)
		out->outer = c == '<';
	if (out->seen > WRITTEN_MAX)
		longjmp(out->full, 1);
	memmove(out->last, out->last + 1, sizeof(out->last) - 1);
	out->last[sizeof(out->last) - 1] = c;
	if (bracket && c == '>' && out->depth > 0 && --out->depth == 0)
		out->outer = 0;
	if (out->depth <= out->outer)
		put(out, &c, 1);
	if (bracket && c == '<' && out->depth++ == out->outer)
		put(out, "...", 3);
}

static void append(const char *text, size_t len, void *opaque)
{
	struct output *out = opaque;

	if (!out->is_short) {
		put(out, text, len);
		return;
	}
	for (size_t i = 0; i < len; i++)
		put_short(out, text[i]);
}

static size_t run(demangler *demangle, const char *name, int options, struct output *out)
{
	if (setjmp(out->full) != 0)
		return 0;
	if (!demangle(name, options, append, out))
		return 0;
	out->buf[out->len] = '\0';
	return out->len;
}

static size_t demangle_stem(const char *name, enum demangle_style style, char *buf, size_t size)
{
	/* No DMGL_PARAMS: flame graphs show JavaThread::run and not JavaThread::run(). */
	const int options = DMGL_ANSI | (style == DEMANGLE_FULL ? DMGL_PARAMS : DMGL_NO_OPTS);
	/* Rust comes first, because Rust's legacy names are C++ names with a hash at the end. */
	static demangler *const demanglers[] = {rust_demangle_callback, cplus_demangle_v3_callback};
	size_t len = 0;

	if (size == 0)
		return 0;
	for (size_t i = 0; len == 0 && i < sizeof(demanglers) / sizeof(demanglers[0]); i++) {
		struct output out = {
			.buf = buf, .size = size, .is_short = style == DEMANGLE_SIMPLE};

		len = run(demanglers[i], name, options, &out);
	}
	return len;
}

size_t demangle_name(const char *name, enum demangle_style style, char *buf, size_t size)
{
	const size_t suffix = sizeof(PLT_SUFFIX) - 1, len = strnlen(name, DEMANGLE_MAX_BYTES + 1);
	char stem[DEMANGLE_MAX_BYTES];
	size_t n;

	if (len > DEMANGLE_MAX_BYTES || !demangle_is_candidate(name))
		return 0;
	if (len < suffix || strcmp(name + len - suffix, PLT_SUFFIX) != 0)
		return demangle_stem(name, style, buf, size);
	memcpy(stem, name, len - suffix);
	stem[len - suffix] = '\0';
	n = size > suffix ? demangle_stem(stem, style, buf, size - suffix) : 0;
	if (n == 0)
		return 0;
	memcpy(buf + n, PLT_SUFFIX, suffix + 1);
	return n + suffix;
}
