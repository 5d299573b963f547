// SPDX-License-Identifier: Apache-2.0
/* Writes names of code as perf's users know them, see code_name.h. */
#include "code/code_name.h"

#include "base/utf8.h"
#include "code/inline_table.h"

#include <stdio.h>
#include <string.h>

#define UNNAMED "[unnamed]"

/*
 * The most bytes of each of two methods in one name: with " in " or "->...->" between them both
 * fit.
 */
#define HALF_BYTES ((CODE_NAME_CUT_BYTES - 8) / 2)

static char *put_text(char *to, const char *text, size_t len)
{
	while (len > 0) {
		uint32_t code;
		size_t n = 0;

		while (n < len && text[n] >= ' ' && text[n] <= '~') /* most names are ASCII */
			*to++ = text[n++];
		text += n;
		len -= n;
		n = utf8_next(text, len, &code);
		if (n == 0)
			break;
		if (code == UTF8_BAD) {
			*to++ = '?';
		} else {
			memcpy(to, text, n);
			to += n;
		}
		text += n;
		len -= n;
	}
	return to;
}

static char *put_word(char *to, const char *word)
{
	return put_text(to, word, strlen(word));
}

static char *put_class(char *to, const char *class_name, size_t len, bool is_dotted)
{
	char *const begin = to;

	to = put_text(to, class_name, len);
	for (char *c = begin; is_dotted && c < to; c++) {
		if (*c == '/')
			*c = '.';
	}
	return to;
}

/* The parts of a method's name, and the length that each part may have. */
struct parts {
	const char *prefix, *infix; /* before the class; between class and name */
	const char *name;
	size_t class_len, name_len, signature_len, file_len;
	char line[sizeof(":4294967295")];
};

/*
 * Cuts the parts of a name that is too long. The class is cut first, down to three quarters of the
 * room.
 */
static void cut_parts(struct parts *parts, const struct code_name_method *method, size_t room)
{
	const size_t quarter = room / 4;
	size_t kept;

	parts->signature_len = utf8_cut(method->signature, parts->signature_len, quarter);
	parts->file_len = utf8_cut(method->source_file, parts->file_len, quarter);
	room -= parts->signature_len + parts->file_len;
	kept = parts->name_len < room / 4 ? parts->name_len : room / 4;
	parts->class_len = utf8_cut(method->class_name, parts->class_len, room - kept);
	parts->name_len = utf8_cut(parts->name, parts->name_len, room - parts->class_len);
}

static struct parts parts_of(const struct perf_map_style *style,
			     const struct code_name_method *method, size_t max)
{
	struct parts parts = {
		.prefix = style->dotted ? "" : "L",
		.infix = style->dotted ? "::" : ";::",
		.name = method->name && method->name[0] ? method->name : UNNAMED,
		.class_len = strlen(method->class_name),
	};
	size_t room = max - strlen(parts.prefix) - strlen(parts.infix);

	parts.name_len = strlen(parts.name);
	if (style->signatures && method->signature)
		parts.signature_len = strlen(method->signature);
	if (style->sourcepos && method->source_file) {
		parts.file_len = strlen(method->source_file);
		if (method->line)
			snprintf(parts.line, sizeof(parts.line), ":%u", (unsigned)method->line);
		room -= strlen("()") + strlen(parts.line);
	}
	if (parts.class_len + parts.name_len + parts.signature_len + parts.file_len > room)
		cut_parts(&parts, method, room);
	return parts;
}

static char *put_method(char *to, const struct perf_map_style *style,
			const struct code_name_method *method, size_t max)
{
	const struct parts parts = parts_of(style, method, max);

	to = put_word(to, parts.prefix);
	to = put_class(to, method->class_name, parts.class_len, style->dotted);
	to = put_word(to, parts.infix);
	to = put_text(to, parts.name, parts.name_len);
	to = put_text(to, method->signature, parts.signature_len);
	if (parts.file_len == 0)
		return to;
	to = put_word(to, "(");
	to = put_text(to, method->source_file, parts.file_len);
	to = put_word(to, parts.line);
	return put_word(to, ")");
}

static size_t method_len(const struct perf_map_style *style, const struct code_name_method *method)
{
	char text[HALF_BYTES];

	return (size_t)(put_method(text, style, method, HALF_BYTES) - text);
}

static char *put_stub(char *to, const char *range_name)
{
	const char *name = range_name && range_name[0] ? range_name : UNNAMED;
	const size_t len = utf8_cut(name, strlen(name), CODE_NAME_CUT_BYTES);

	to = put_text(to, name, len);
	return len < 3 ? put_word(to, "()") : to;
}

size_t code_name_styled(const struct perf_map_style *style, const struct code_range *range,
			char *ret)
{
	struct code_name_method method = {
		.class_name = range->class_name,
		.name = range->name,
		.signature = range->signature,
		.source_file = range->source_file,
	};

	if (style->sourcepos && range->inlines)
		method.line = code_method_first_line(inline_table_root(range->inlines));
	if (!range->class_name)
		return (size_t)(put_stub(ret, range->name) - ret);
	return (size_t)(put_method(ret, style, &method, CODE_NAME_CUT_BYTES) - ret);
}

size_t code_name(const struct code_range *range, char *ret)
{
	return code_name_styled(&(struct perf_map_style){0}, range, ret);
}

/* Writes root->caller->inlined, or root->...->inlined if not all methods fit. */
static char *put_stack(char *to, const struct perf_map_style *style,
		       const struct code_name_method *frames, size_t count)
{
	const size_t root = count - 1;
	size_t shown = 0, used = method_len(style, &frames[root]);

	for (; shown < root; shown++) {
		const size_t dots = shown + 1 < root ? strlen("->...") : 0;
		const size_t len = strlen("->") + method_len(style, &frames[shown]);

		if (used + len + dots > CODE_NAME_CUT_BYTES)
			break;
		used += len;
	}
	to = put_method(to, style, &frames[root], HALF_BYTES);
	if (shown < root)
		to = put_word(to, "->...");
	while (shown > 0) {
		to = put_word(to, "->");
		to = put_method(to, style, &frames[--shown], HALF_BYTES);
	}
	return to;
}

size_t code_name_unfolded(const struct perf_map_style *style, const struct code_name_method *frames,
			  size_t count, char *ret)
{
	const struct code_name_method *root = &frames[count - 1];
	char *to = ret;

	if (count == 1 || style->unfold == PERF_MAP_FOLDED) {
		to = put_method(to, style, root, CODE_NAME_CUT_BYTES);
	} else if (style->unfold == PERF_MAP_UNFOLD_SIMPLE) {
		to = put_method(to, style, &frames[0], CODE_NAME_CUT_BYTES);
	} else if (style->unfold == PERF_MAP_UNFOLD_ALL) {
		to = put_stack(to, style, frames, count);
	} else {
		to = put_method(to, style, &frames[0], HALF_BYTES);
		to = put_word(to, " in ");
		to = put_method(to, style, root, HALF_BYTES);
	}
	return (size_t)(to - ret);
}
