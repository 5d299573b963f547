// SPDX-License-Identifier: Apache-2.0
/* Names and kinds of perf script's frames, see perf_names.h. */
#include "import/perf_names.h"

#include "base/utf8.h"
#include "profile/frame_text.h"
#include "symbolize/demangle.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_PLAIN_BYTES 4096u
#define RUST_HASH_BYTES 19u    /* ::h and 16 hexadecimal digits */
#define IN		" in " /* of the perf map style unfold */
#define WORD		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

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

static bool is_word(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr(WORD, text[i]))
			return false;
	return len > 0;
}

/*
 * Whether what stands in brackets is the name of the kernel or of a module: [nf_tables], [kernel.x]
 */
static bool is_kernel_area(const char *file)
{
	static const char *const areas[] = {"[vdso]",  "[vsyscall]", "[unknown]", "[heap]",
					    "[stack]", "[anon]",     "[uprobes]", "[jit]"};
	const size_t len = strlen(file);

	if (starts_with(file, "[kernel") || starts_with(file, "[guest.kernel"))
		return true;
	for (size_t i = 0; i < sizeof(areas) / sizeof(*areas); i++)
		if (strcasecmp(file, areas[i]) == 0)
			return false;
	return len > 2 && file[len - 1] == ']' && is_word(file + 1, len - 2);
}

static bool is_kernel(const char *file)
{
	if (file[0] == '[')
		return is_kernel_area(file);
	return ends_with(file, "vmlinux") || ends_with(file, ".ko") || strstr(file, ".ko.") ||
	       starts_with(base_name(file), "vmlinux-");
}

static bool is_generated(const char *file)
{
	const char *const base = base_name(file);

	return (starts_with(base, "perf-") && ends_with(base, ".map")) ||
	       (starts_with(base, "jitted-") && ends_with(base, ".so")) ||
	       strncasecmp(file, "[JIT", 4) == 0 || strstr(file, "jit-c") != NULL;
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
static char *plain_slashed(char *name)
{
	char *const semicolon = strchr(name, ';');
	char *method;

	if (name[0] != 'L' || !semicolon ||
	    (semicolon[1] != ':' && !memchr(name, '/', (size_t)(semicolon - name))))
		return NULL; /* a class without a package has no slash */
	method = semicolon + 1 + strspn(semicolon + 1, ":.");
	*semicolon = '.';
	memmove(semicolon + 1, method, strlen(method) + 1);
	semicolon[1 + strcspn(semicolon + 1, "(")] = '\0';
	return name + 1;
}

/*
 * Turns java.lang.String::hashCode(..)I, of the style dotted, into java/lang/String.hashCode, in
 * place. The class begins with a capital, which tells it from a namespace.
 */
static char *plain_dotted(char *name)
{
	char *const colons = strstr(name, "::");
	char *class_name = name;

	if (!colons || colons == name || !colons[2] || strchr("(:", colons[2]))
		return NULL;
	for (char *c = name; c < colons; c++) {
		if (strchr(" <>()[];*&,", *c))
			return NULL;
		if (*c == '.' && c[1] >= 'A' && c[1] <= 'Z' && class_name == name)
			class_name = c + 1;
	}
	if (*class_name < 'A' || *class_name > 'Z' || strstr(colons + 2, "::"))
		return NULL;
	for (char *c = name; c < colons; c++)
		if (*c == '.')
			*c = '/';
	*colons = '.';
	memmove(colons + 1, colons + 2, strlen(colons + 2) + 1);
	colons[1 + strcspn(colons + 1, "(")] = '\0';
	return name;
}

static char *plain_java(char *name)
{
	char *plain = plain_slashed(name);

	if (!plain)
		plain = plain_dotted(name);
	return plain ? plain : name;
}

/* The length of operator() or of another operator's name at text, whose signs are no brackets. */
static size_t operator_len(const char *name, const char *text)
{
	static const char word[] = "operator";
	const size_t len = sizeof(word) - 1;

	if (!starts_with(text, word) || (text > name && strchr(WORD, text[-1])))
		return 0;
	if (starts_with(text + len, "()"))
		return len + 2;
	return text[len] && !strchr(WORD, text[len]) ? len + strspn(text + len, "<>=!-+*/%^&|~")
						     : 0;
}

/* What is behind the bracket that begins at text, or the end of a text that does not close it. */
static char *past_bracket(const char *name, char *text)
{
	size_t depth = 0;

	while (*text) {
		const size_t len = operator_len(name, text);

		if (len > 0) {
			text += len;
			continue;
		}
		if (strchr("<({[", *text))
			depth++;
		else if (strchr(")}]", *text) || (*text == '>' && text[-1] != '-'))
			depth--;
		text++;
		if (depth == 0)
			break;
	}
	return text;
}

/*
 * Cuts the parameters off. They stand in the parenthesis that nothing of the name follows: that of
 * f()::{lambda()#1}::operator()() const is the last. Within <>, {} and [] none counts.
 */
static void cut_parameters(char *name)
{
	for (char *at = name; *at;) {
		const size_t len = operator_len(name, at);
		char *behind;

		if (len > 0) {
			at += len;
			continue;
		}
		if (!strchr("<({[", *at)) {
			at++;
			continue;
		}
		behind = past_bracket(name, at);
		if (*at != '(' || at == name || at[-1] == '.' ||
		    (*behind && !strchr(" .[@&", *behind)) ||
		    (*behind == '.' && behind[1] != '_' && !starts_with(behind, ".part") &&
		     !starts_with(behind, ".cold") && !starts_with(behind, ".const") &&
		     !starts_with(behind, ".isra") && !starts_with(behind, ".llvm"))) {
			at = behind;
			continue;
		}
		while (at > name && at[-1] == ' ')
			at--;
		*at = '\0';
		return;
	}
}

/* The character of $u7b$ or of $LT$ at the place, and the length of that. 0: it is none. */
static char rust_character(const char *at, size_t *ret_len)
{
	static const struct {
		const char *code;
		char character;
	} codes[] = {{"$SP$", '@'}, {"$BP$", '*'}, {"$RF$", '&'}, {"$LT$", '<'},
		     {"$GT$", '>'}, {"$LP$", '('}, {"$RP$", ')'}, {"$C$", ','}};

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		*ret_len = strlen(codes[i].code);
		if (starts_with(at, codes[i].code))
			return codes[i].character;
	}
	*ret_len = strlen("$u7b$");
	if (!starts_with(at, "$u") || ascii_hex(at[2]) < 2 || ascii_hex(at[2]) > 7 ||
	    ascii_hex(at[3]) < 0 || at[4] != '$')
		return '\0';
	return (char)(ascii_hex(at[2]) << 4 | ascii_hex(at[3]));
}

/*
 * Spells out what rustc writes in place of other characters than letters: $LT$, $u7b$, and .. for
 * ::. An underscore goes in front of those where a name would begin with one.
 */
static void spell_rust(char *name)
{
	char *to = name;
	size_t len;

	for (const char *at = name; *at; to++) {
		const bool is_first = at == name || (to > name && to[-1] == ':');
		char character = '\0';

		if (is_first && at[0] == '_' && at[1] == '$' && rust_character(at + 1, &len))
			at++;
		if (*at == '$')
			character = rust_character(at, &len);
		if (character) {
			*to = character;
			at += len;
		} else if (at[0] == '.' && at[1] == '.') {
			*to++ = ':';
			*to = ':';
			at += 2;
		} else {
			*to = *at++;
		}
	}
	*to = '\0';
}

bool perf_names_cut_hash(char *name)
{
	const size_t len = strlen(name);
	const char *const hash = name + len - RUST_HASH_BYTES;

	if (len <= RUST_HASH_BYTES || !starts_with(hash, "::h") ||
	    strspn(hash + 3, "0123456789abcdef") != RUST_HASH_BYTES - 3)
		return false;
	name[len - RUST_HASH_BYTES] = '\0';
	spell_rust(name);
	return true;
}

const char *perf_names_plain(struct arena *arena, const char *name)
{
	char text[MAX_PLAIN_BYTES];
	const size_t len = name ? demangle_name(name, DEMANGLE_PLAIN, text, sizeof(text)) : 0;
	char *const plain = len > 0 ? arena_copy(arena, text, len) : NULL;

	if (plain)
		perf_names_cut_hash(plain);
	return plain ? plain : name;
}

static enum frame_kind java_kind(const struct import_options *options, bool is_inlined)
{
	if (!options->marks_jit)
		return FRAME_JAVA;
	return is_inlined ? FRAME_INLINED : FRAME_JIT;
}

static bool is_java(const char *name)
{
	const char *const semicolon = strchr(name, ';');

	return (name[0] == 'L' && semicolon && semicolon[1] == ':') || strstr(name, "::");
}

/* Adds a method, or a stub. */
static size_t add_generated(const struct import_options *options, char *name, bool is_inlined,
			    struct frame *ret)
{
	if (*name == '\0')
		return 0;
	*ret = (struct frame){.name = plain_java(name), .kind = FRAME_STUB};
	if (is_method(ret->name))
		ret->kind = java_kind(options, is_inlined);
	return 1;
}

/* The names of generated code: "root->caller->inlined", "inlined in root", or a name alone. */
static size_t generated_names(const struct import_options *options, char *name, struct frame *ret,
			      size_t max)
{
	char *const in = strstr(name, IN);
	size_t n = 0;

	if (in && max >= 2 && !strstr(name, "->")) {
		*in = '\0';
		if (is_java(name) && is_java(in + strlen(IN))) {
			n = add_generated(options, in + strlen(IN), false, ret);
			return n + add_generated(options, name, true, ret + n);
		}
		*in = IN[0];
	}
	for (char *next; name && n < max; name = next) {
		next = strstr(name, "->");
		if (next) {
			*next = '\0';
			next += 2;
		}
		n += add_generated(options, name, n > 0, ret + n);
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
		const char *const name =
			i > 0 ? perf_names_plain(names->arena, place->name) : ret[0].name;

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

	if (names->name[0] == '\0' || strcmp(names->name, "[unknown]") == 0) {
		ret[0] = unnamed(options, names);
		return 1;
	}
	if (is_generated(file)) {
		const size_t n = generated_names(options, names->name, ret, max);

		if (n > 0)
			return n;
	}
	ret[0] = (struct frame){.name = perf_names_plain(names->arena, names->name),
				.kind = FRAME_NATIVE};
	if (ret[0].name == names->name) {
		cut_parameters(names->name);
		perf_names_cut_hash(names->name);
	}
	if (strcmp(file, "inlined") == 0) {
		ret[0].kind =
			options->marks_jit ? frame_text_inlined_kind(ret[0].name) : FRAME_NATIVE;
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
