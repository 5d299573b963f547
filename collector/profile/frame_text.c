// SPDX-License-Identifier: Apache-2.0
/*
 * Names and kinds of frames, see frame_text.h.
 *
 *   name "_[0]" | "_[1]" | "_[j]" | "_[i]" | "_[k]" | "_[w]" | "_[c]"
 *                      the suffix says the kind
 *   "[" ... "]"        no code: a reason, or the file of a function that has no name
 *   "-[" "+["          Objective-C
 *   ":::"              Java, from a perf map whose ';' was replaced: Lorg/x/Y:::m
 *   "::"               C++, Rust
 *   '/' not in front, or a capital in front and a '.'    Java
 *
 * A Java name of unknown level is FRAME_JAVA, so that no suffix is written that was not read.
 */
#include "profile/frame_text.h"

#include <string.h>

#define SUFFIX_BYTES 4u /* _[j] */

static bool starts_with(const char *text, const char *what)
{
	return strncmp(text, what, strlen(what)) == 0;
}

/* Looks in front of the parameters only: paths and types among the parameters do not count. */
static bool has_before_parameters(const char *name, char c)
{
	const size_t len = strcspn(name, "(<");

	return memchr(name, c, len) != NULL;
}

enum frame_kind frame_text_kind(const char *name)
{
	const size_t len = strlen(name);

	if (starts_with(name, "[unknown"))
		return FRAME_UNKNOWN;
	if (name[0] == '[' && name[len - 1] == ']')
		return strchr(name, ' ') ? FRAME_LABEL : FRAME_UNKNOWN;
	if (starts_with(name, "-[") || starts_with(name, "+["))
		return FRAME_NATIVE;
	if (strstr(name, ":::"))
		return FRAME_JAVA;
	if (strstr(name, "::"))
		return FRAME_NATIVE;
	if (name[0] != '/' && name[0] != '[' && has_before_parameters(name, '/'))
		return FRAME_JAVA;
	if (name[0] >= 'A' && name[0] <= 'Z' && has_before_parameters(name, '.'))
		return FRAME_JAVA;
	return FRAME_NATIVE;
}

/* A dot in front of the parameters marks a Java name, even where a package precedes the class. */
enum frame_kind frame_text_inlined_kind(const char *name)
{
	const bool is_native = frame_text_kind(name) == FRAME_NATIVE &&
			       (strstr(name, "::") || !has_before_parameters(name, '.'));

	return is_native ? FRAME_NATIVE_INLINED : FRAME_INLINED;
}

static bool kind_of_suffix(const char *suffix, enum frame_kind *ret)
{
	static const enum frame_kind kinds[] = {FRAME_INTERPRETED, FRAME_C1,	 FRAME_JIT,
						FRAME_INLINED,	   FRAME_KERNEL, FRAME_WAIT,
						FRAME_CLASS};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (memcmp(suffix, frame_kind_suffix(kinds[i]), SUFFIX_BYTES) != 0)
			continue;
		*ret = kinds[i];
		return true;
	}
	return false;
}

struct frame frame_text_parse(char *text, size_t len, bool is_root)
{
	struct frame frame = {.name = text};

	if (len <= SUFFIX_BYTES || !kind_of_suffix(text + len - SUFFIX_BYTES, &frame.kind)) {
		frame.kind = is_root ? FRAME_LABEL : frame_text_kind(text);
		return frame;
	}
	text[len - SUFFIX_BYTES] = '\0';
	if (frame.kind == FRAME_INLINED)
		frame.kind = frame_text_inlined_kind(text);
	return frame;
}
