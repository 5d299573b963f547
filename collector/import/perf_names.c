// SPDX-License-Identifier: Apache-2.0
/* Names and kinds of perf script's frames, see perf_names.h. */
#include "import/perf_names.h"

#include "profile/frame_text.h"
#include "symbolize/demangle.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_PLAIN_BYTES 4096u

static bool starts_with(const char *text, const char *what)
{
	return strncmp(text, what, strlen(what)) == 0;
}

static bool ends_with(const char *text, const char *what)
{
	const size_t len = strlen(text), what_len = strlen(what);

	return len >= what_len && strcmp(text + len - what_len, what) == 0;
}

static const char *base_name(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Whether the mapping has no file and holds no kernel code. */
static bool is_user_area(const char *file)
{
	static const char *const areas[] = {"[vdso]",  "[vsyscall]", "[unknown]", "[heap]",
					    "[stack]", "[anon",	     "[JIT]",	  "[uprobes]"};

	for (size_t i = 0; i < sizeof(areas) / sizeof(*areas); i++)
		if (starts_with(file, areas[i]))
			return true;
	return false;
}

static bool is_kernel(const char *file)
{
	if (file[0] == '[')
		return !is_user_area(file);
	return ends_with(file, "vmlinux") || ends_with(file, ".ko") || strstr(file, ".ko.") ||
	       starts_with(base_name(file), "vmlinux-");
}

static bool is_generated(const char *file)
{
	const char *const base = base_name(file);

	return (starts_with(base, "perf-") && ends_with(base, ".map")) ||
	       (starts_with(base, "jitted-") && ends_with(base, ".so")) ||
	       starts_with(file, "[JIT]");
}

/*
 * The names of HotSpot's stubs are single words. The names of all runtimes' methods have a
 * separator.
 */
static bool is_method(const char *name)
{
	return strpbrk(name, "./:;~*") != NULL;
}

/* Turns Ljava/lang/String;::hashCode(..)I into java/lang/String.hashCode, in place. */
static char *plain_java(char *name)
{
	char *const semicolon = strchr(name, ';');
	char *method;

	if (name[0] != 'L' || !semicolon ||
	    (semicolon[1] != ':' && !memchr(name, '/', (size_t)(semicolon - name))))
		return name; /* a class without a package has no slash */
	method = semicolon + 1 + strspn(semicolon + 1, ":.");
	*semicolon = '.';
	memmove(semicolon + 1, method, strlen(method) + 1);
	semicolon[1 + strcspn(semicolon + 1, "(")] = '\0';
	return name + 1;
}

/*
 * Cuts the parameters off. Some parentheses are part of the name: (anonymous namespace)::f,
 * operator(), Go's main.(*T).f.
 */
static void cut_parameters(char *name)
{
	static const char call[] = "operator()";
	char *at = name;

	for (; (at = strchr(at, '(')); at++) {
		if (at == name || at[-1] == '.' || starts_with(at, "(anonymous"))
			continue;
		if (at - name >= 8 && starts_with(at - 8, call))
			continue;
		while (at > name && at[-1] == ' ')
			at--;
		*at = '\0';
		return;
	}
}

static enum frame_kind java_kind(const struct import_options *options, bool is_inlined)
{
	if (!options->marks_jit)
		return FRAME_JAVA;
	return is_inlined ? FRAME_INLINED : FRAME_JIT;
}

static size_t generated_names(const struct import_options *options, char *name, struct frame *ret,
			      size_t max)
{
	size_t n = 0;

	for (char *next; name && n < max; name = next) {
		next = strstr(name, "->");
		if (next) {
			*next = '\0';
			next += 2;
		}
		if (*name == '\0')
			continue;
		ret[n] = (struct frame){.name = plain_java(name), .kind = FRAME_STUB};
		if (is_method(ret[n].name))
			ret[n].kind = java_kind(options, n > 0);
		n++;
	}
	return n;
}

/* Makes the name [libc.so.6], or [libc.so.6 <7f10>] with the address. */
static struct frame unnamed(const struct import_options *options, struct perf_names *names)
{
	const char *base = base_name(names->file);
	size_t len = strlen(base);

	if (len > 2 && base[0] == '[' && base[len - 1] == ']') {
		base++;
		len -= 2;
	}
	if (len == 0) {
		base = "unknown";
		len = strlen(base);
	}
	if (options->has_addrs)
		sprintf(names->name, "[%.*s <%s>]", (int)len, base, names->pc);
	else
		sprintf(names->name, "[%.*s]", (int)len, base);
	return (struct frame){.name = names->name, .kind = FRAME_UNKNOWN};
}

/* The name as the source has it. NULL: there is no name. */
static const char *plain_name(const struct perf_names *names, const char *name)
{
	char text[MAX_PLAIN_BYTES];
	const size_t len = name ? demangle_name(name, DEMANGLE_PLAIN, text, sizeof(text)) : 0;

	return len > 0 ? arena_copy(names->arena, text, len) : name;
}

/*
 * Adds the inlined functions behind the function itself, which gets its line. Returns the number of
 * frames.
 */
static size_t add_inlined(const struct import_options *options, const struct perf_names *names,
			  struct frame *ret, size_t max)
{
	const size_t count = names->inlined_count < max ? names->inlined_count : max;
	const struct dwarf_place *const places = names->inlined;

	for (size_t i = 0; i < count; i++) {
		const struct dwarf_place *const place = &places[names->inlined_count - 1 - i];
		const char *const name = i > 0 ? plain_name(names, place->name) : ret[0].name;

		ret[i] = (struct frame){
			.name = name ? name : "[inlined]",
			.module = ret[0].module,
			.file = place->file,
			.line = place->line,
			.kind = i == 0		     ? ret[0].kind
				: options->marks_jit ? FRAME_NATIVE_INLINED
						     : FRAME_NATIVE,
		};
	}
	return count > 0 ? count : 1;
}

size_t perf_names_of(const struct import_options *options, struct perf_names *names,
		     struct frame *ret, size_t max)
{
	const char *const file = names->file;

	if (strcmp(names->name, "[unknown]") == 0) {
		ret[0] = unnamed(options, names);
		return 1;
	}
	if (is_generated(file)) {
		const size_t n = generated_names(options, names->name, ret, max);

		if (n > 0)
			return n;
	}
	cut_parameters(names->name);
	ret[0] = (struct frame){.name = names->name, .kind = FRAME_NATIVE};
	if (strcmp(file, "inlined") == 0) {
		ret[0].kind =
			options->marks_jit ? frame_text_inlined_kind(names->name) : FRAME_NATIVE;
	} else if (strcmp(file, "[waiting]") == 0) { /* of perf_text.c */
		ret[0].kind = FRAME_WAIT;
	} else if (strcmp(file, "[class]") == 0) { /* as well */
		ret[0].kind = FRAME_CLASS;
	} else if (is_kernel(file)) {
		ret[0].kind = options->marks_kernel ? FRAME_KERNEL : FRAME_NATIVE;
		ret[0].module = "[kernel]";
	} else if (file[0]) {
		ret[0].kind = starts_with(base_name(file), "libjvm.so") ? FRAME_JVM : FRAME_NATIVE;
		ret[0].module = base_name(file);
		return add_inlined(options, names, ret, max);
	}
	return 1;
}
