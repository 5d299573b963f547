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
 *   ".(*" "[...]" "github.com/"    Go, see frame_text_is_go
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

/* Packages of Go's own library in whose paths there is a slash. */
static bool is_go_library(const char *name)
{
	static const char *const roots[] = {
		"archive/",  "compress/", "container/", "crypto/", "database/sql", "debug/",
		"encoding/", "go/",	  "hash/",	"html/",   "image/",	   "internal/",
		"io/",	     "log/",	  "math/",	"mime/",   "net/",	   "os/",
		"path/",     "regexp/",	  "runtime/",	"sync/",   "testing/",	   "text/",
		"unicode/",  "vendor/"};

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
		if (starts_with(name, roots[i]))
			return true;
	return false;
}

/*
 * Go's functions are path/to/package.Function and path/to/package.(*Type).Method. What tells them
 * from Java's: a receiver in parentheses; a type's "[...]"; a path that begins with a domain's
 * name; a package of Go's library, whose name begins with a small letter as no class of Java's
 * does.
 */
bool frame_text_is_go(const char *name)
{
	const size_t len = strcspn(name, "([<");
	const char *const slash = memrchr(name, '/', len);
	const char *const first = memchr(name, '/', len);
	const char *const dot = strchr(slash ? slash : name, '.');

	if (!dot || strstr(name, "::") || name[0] == '/' || name[0] == '[')
		return false;
	if (strstr(name, ".(*") || strstr(name, "[...]"))
		return true;
	if (!slash || slash[1] < 'a' || slash[1] > 'z' || (size_t)(dot - name) > len)
		return false;
	return memchr(name, '.', (size_t)(first - name)) || is_go_library(name);
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
	if (strstr(name, "::") || frame_text_is_go(name))
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
	const bool is_native =
		frame_text_kind(name) == FRAME_NATIVE &&
		(strstr(name, "::") || frame_text_is_go(name) || !has_before_parameters(name, '.'));

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
