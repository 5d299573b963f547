// SPDX-License-Identifier: Apache-2.0
/* Shorter and shorter forms of a name, see label.h. label.js does the same in pages. */
#include "render/label.h"

#include "base/utf8.h"
#include "encode/text.h"
#include "profile/frame_text.h"

#include <string.h>

#define FIRST_WIDE 0x1100u /* Hangul Jamo; nearly all wide characters come after this block */

static size_t columns_of(const char *text)
{
	size_t columns = 0;

	for (uint32_t code; (code = text_next(&text)) != TEXT_END;)
		columns += code != TEXT_BAD && code >= FIRST_WIDE ? 2 : 1;
	return columns;
}

/*
 * How many bytes of name leave room for "..". 0: not one letter fits, and ".." alone says nothing.
 */
static size_t cut_len(const char *name, size_t columns)
{
	size_t used = 2;
	const char *end = name;

	for (const char *next = name;; end = next) {
		const uint32_t code = text_next(&next);

		used += code != TEXT_BAD && code >= FIRST_WIDE ? 2 : 1;
		if (code == TEXT_END || used > columns)
			return (size_t)(end - name);
	}
}

static const char *cut(struct bytes *out, const char *name, size_t columns)
{
	const size_t len = cut_len(name, columns);

	if (len == 0)
		return "";
	out->len = 0;
	bytes_add(out, name, len);
	bytes_add(out, "..", 2);
	return bytes_text(out);
}

/* Cuts text in place. text points into out, so that it cannot be copied to out. */
static const char *cut_in_place(struct bytes *out, const char *text, size_t columns)
{
	out->len = cut_len(text, columns);
	if (out->len == 0)
		return "";
	memmove(out->data, text, out->len);
	bytes_add(out, "..", 2);
	return bytes_text(out);
}

/*
 * Where the parameters of java/lang/String.charAt(I)C begin, or the end of name. Behind the
 * parameters stands a type, which has no ')'.
 */
static const char *past_method(const char *name)
{
	const char *const bracket = strrchr(name, '(');
	const char *const close = bracket ? strchr(bracket, ')') : NULL;

	return close && close[1] && !strchr(close + 1, ')') && bracket > name ? bracket
									      : name + strlen(name);
}

/*
 * Returns where the class's name begins, behind the last '/' or '.' of the package. end is the end
 * of the method. In a hidden class's name another '/' stands before the number:
 * com/x/Foo$$Lambda/0x00007f2b40c1a800.run
 */
static const char *past_package(const char *name, const char *end)
{
	const char *const dot = memrchr(name, '.', (size_t)(end - name));
	const char *class_name = name;
	const char *before = name;

	for (const char *p = name; p < (dot ? dot : end); p++) {
		if (*p != '/' && *p != '.')
			continue;
		before = class_name;
		class_name = p + 1;
	}
	return strncmp(class_name, "0x", 2) == 0 ? before : class_name;
}

/* Writes j.l.String.charAt; returns the length of the initials. */
static size_t put_with_initials(struct bytes *out, const char *name, const char *class_name,
				const char *end)
{
	size_t initials;

	out->len = 0;
	for (const char *part = name; part < class_name; part = strpbrk(part, "/.") + 1) {
		const char *next = part;

		if (*part != '.' && text_next(&next) != '/')
			bytes_add(out, part, (size_t)(next - part));
		bytes_add_char(out, '.');
	}
	initials = out->len;
	bytes_add(out, class_name, (size_t)(end - class_name));
	return initials;
}

static const char *fit_java(struct bytes *out, const char *name, size_t columns)
{
	const char *const end = past_method(name);
	const char *const class_name = past_package(name, end);
	const char *text, *dot;
	size_t initials;

	out->len = 0;
	bytes_add(out, name, (size_t)(end - name));
	if (*end && columns_of(bytes_text(out)) <= columns)
		return bytes_text(out);
	initials = put_with_initials(out, name, class_name, end);
	text = bytes_text(out);
	if (out->failed || columns_of(text) <= columns)
		return text;
	text += initials;
	if (columns_of(text) <= columns)
		return text;
	dot = strrchr(text, '.');
	if (dot && dot[1])
		text = dot + 1;
	return columns_of(text) <= columns ? text : cut_in_place(out, text, columns);
}

/*
 * java.util.HashMap$Node[] without its package. Behind the last dot of a hidden class stands a
 * number: com.x.Foo$$Lambda.0x00007f2b40c1a800
 */
static const char *fit_class(struct bytes *out, const char *name, size_t columns)
{
	const char *dot = strrchr(name, '.'), *class_name;
	const char *text;

	if (dot && strncmp(dot + 1, "0x", 2) == 0)
		dot = memrchr(name, '.', (size_t)(dot - name));
	class_name = dot && dot[1] ? dot + 1 : name;
	put_with_initials(out, name, class_name, name + strlen(name));
	text = bytes_text(out);
	if (columns_of(text) <= columns)
		return text;
	return columns_of(class_name) <= columns ? class_name : cut(out, class_name, columns);
}

static bool is_word(char c)
{
	return ascii_is_letter(c) || ascii_is_digit(c) || c == '_' || (unsigned char)c >= 0x80;
}

/*
 * The length of operator<<, operator() or another operator at name, or 0. The signs of an operator
 * are not brackets.
 */
static size_t operator_len(const char *name)
{
	size_t len = strlen("operator");

	if (strncmp(name, "operator", len) != 0 || is_word(name[len]))
		return 0;
	if (strncmp(name + len, "()", 2) == 0)
		return len + 2;
	if (name[len] == ' ') /* operator bool, operator new */
		return len + 1;
	return len + strspn(name + len, "<>=!-+*/%^&|~[],");
}

/* The length of the bracketed text that begins at text, with both brackets. */
static size_t bracket_len(const char *text)
{
	size_t depth = 0;

	for (size_t i = 0; text[i]; i++) {
		if (strchr("<(", text[i]))
			depth++;
		else if (text[i] == ')' || (text[i] == '>' && text[i - 1] != '-'))
			depth--;
		if (depth == 0)
			return i + 1;
	}
	return strlen(text);
}

/* The C++ name without parameters, template arguments and return type. */
static const char *bare(struct bytes *out, const char *name)
{
	size_t start = 0;

	out->len = 0;
	for (const char *p = name; *p;) {
		const size_t len = p == name || !is_word(p[-1]) ? operator_len(p) : 0;

		if (len > 0) {
			bytes_add(out, p, len);
			p += len;
		} else if (strncmp(p, "(anonymous namespace)", 21) == 0) {
			bytes_add(out, p, 21);
			p += 21;
		} else if (*p == '<' && p > name) {
			p += bracket_len(p);
		} else if (p[0] == ' ' && p[1] == '<') { /* operator<< <char> */
			p++;
		} else if (*p == '(' && p > name) {
			break;
		} else {
			bytes_add_char(out, *p);
			start = *p++ == ' ' ? out->len : start;
		}
	}
	return bytes_text(out) + start;
}

/* What follows the next "::" of a bare name, or NULL. */
static const char *past_qualifier(const char *name)
{
	const char *const colons = strstr(name, "::");

	return colons && colons[2] ? colons + 2 : NULL;
}

static const char *fit_native(struct bytes *out, const char *name, size_t columns)
{
	const char *short_name = bare(out, name);

	if (!*short_name)
		return cut(out, name, columns);
	while (columns_of(short_name) > columns) {
		const char *const next = past_qualifier(short_name);

		if (!next)
			break;
		short_name = next;
	}
	if (columns_of(short_name) <= columns)
		return short_name;
	return cut_in_place(out, short_name, columns);
}

/* What is behind the package's path, its name, or the receiver, whichever comes next; or NULL. */
static const char *past_go(const char *name)
{
	const size_t len = strcspn(name, "([");
	const char *const slash = memrchr(name, '/', len);
	const char *next = slash ? slash + 1 : name;

	if (!slash && *next == '(')
		next += strcspn(next, ")");
	if (!slash)
		next += strcspn(next, next[0] == ')' ? "." : ".[");
	if (!slash && *next != '.')
		return NULL;
	return slash ? next : next[1] ? next + 1 : NULL;
}

/* github.com/acme/db.(*Cache).Get, db.(*Cache).Get, (*Cache).Get, Get */
static const char *fit_go(struct bytes *out, const char *name, size_t columns)
{
	const char *next = name;

	for (; next && columns_of(next) > columns; next = past_go(next))
		name = next;
	return next ? next : cut(out, name, columns);
}

const char *label_fit(struct bytes *out, const char *name, enum kind kind, size_t columns)
{
	if (columns < LABEL_MIN_COLUMNS)
		return "";
	if (columns_of(name) <= columns)
		return name;
	switch (kind) {
	case KIND_INTERPRETED:
	case KIND_C1:
	case KIND_JIT:
	case KIND_INLINED:
	case KIND_JAVA:
		return fit_java(out, name, columns);
	case KIND_CLASS:
		return fit_class(out, name, columns);
	case KIND_CPP:
	case KIND_NATIVE:
	case KIND_STUB:
		return frame_text_is_go(name) ? fit_go(out, name, columns)
					      : fit_native(out, name, columns);
	default:
		return cut(out, name, columns);
	}
}
