// SPDX-License-Identifier: Apache-2.0
/*
 * Writes names of Java methods, see java_name.h. A class's name is copied from left to right. Where
 * a mark ("$$Lambda$") is followed by a made-up number, the mark is copied and the number is not.
 */
#include "code/java_name.h"

#include "base/utf8.h"
#include "code/java_text.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define HIDDEN_DIGITS 16 /* digits of the address in a hidden class's name */

struct span {
	const char *text;
	size_t len;
};

struct out {
	char *text;
	size_t used, size;
};

/* ---- styles ---- */

static const char *const words[JAVA_NAME_STYLES] = {
	[JAVA_NAME_SLASH] = "slash",
	[JAVA_NAME_DOT] = "dot",
	[JAVA_NAME_SIMPLE] = "simple",
	[JAVA_NAME_SIGNATURE] = "signature",
};

const char *java_name_style_word(enum java_name_style style)
{
	return words[style];
}

int java_name_style_of(const char *word, enum java_name_style *ret)
{
	for (int i = 0; i < JAVA_NAME_STYLES; i++) {
		if (strcmp(words[i], word) == 0) {
			*ret = (enum java_name_style)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *java_name_styles(void)
{
	return "slash, dot, simple, signature";
}

/* ---- generated parts of names ---- */

enum id_kind { ID_DECIMAL, ID_HEX, ID_WORD };

enum mark_place {
	ANYWHERE,
	AT_START,	  /* of a part between slashes */
	AT_START_OF_MORE, /* and '$' follows the number: Script$1 is somebody's class */
};

/* A generated part of a name, made of a text, a separator and a number: "$$Lambda" "$" 14. */
struct mark {
	const char *text, *separator;
	enum id_kind id;
	enum mark_place place;
};

static const struct mark marks[] = {
	{"$$Lambda", "$", ID_DECIMAL, ANYWHERE},   /* HotSpot before 21 */
	{"$Proxy", "", ID_DECIMAL, AT_START},	   /* java.lang.reflect.Proxy */
	{"jdk/proxy", "", ID_DECIMAL, AT_START},   /* a class loader's module of proxies */
	{"jdk/MHProxy", "", ID_DECIMAL, AT_START}, /* MethodHandleProxies since 22 */
	{"GeneratedMethodAccessor", "", ID_DECIMAL, AT_START}, /* reflection before 18 */
	{"GeneratedConstructorAccessor", "", ID_DECIMAL, AT_START},
	{"GeneratedSerializationConstructorAccessor", "", ID_DECIMAL, AT_START},
	{"ByCGLIB", "$$", ID_HEX, ANYWHERE}, /* EnhancerBy, FastClassBy, KeyFactoryBy, ... */
	{"BySpringCGLIB", "$$", ID_HEX, ANYWHERE},
	{"$$SpringCGLIB", "$$", ID_DECIMAL, ANYWHERE}, /* Spring 6 */
	{"$$SpringCGLIB$$FastClass", "$$", ID_DECIMAL, ANYWHERE},
	{"$ByteBuddy", "$", ID_WORD, ANYWHERE},
	{"$HibernateProxy", "$", ID_WORD, ANYWHERE}, /* Hibernate 5, with Byte Buddy */
	{"$auxiliary", "$", ID_WORD, ANYWHERE},	     /* helper classes of Byte Buddy */
	{"$MockitoMock", "$", ID_DECIMAL, ANYWHERE},
	{"_$$_jvst", "", ID_HEX, ANYWHERE}, /* Javassist */
	{"_$$_javassist", "_", ID_DECIMAL, ANYWHERE},
	{"$eval", "", ID_DECIMAL, ANYWHERE}, /* Clojure's read-eval-print loop */
	{"Script", "$", ID_DECIMAL, AT_START_OF_MORE},
	{"Script$Recompilation", "$", ID_DECIMAL, AT_START_OF_MORE}, /* Nashorn */
	{"$JShell", "$", ID_DECIMAL, AT_START},
};

static bool is_id_char(enum id_kind kind, char c)
{
	if (ascii_is_digit(c))
		return true;
	if (kind == ID_HEX) /* '_' and a counter follow if two hashes would be equal */
		return (c >= 'a' && c <= 'f') || c == '_';
	return kind == ID_WORD && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
}

static size_t id_len(enum id_kind kind, struct span rest)
{
	size_t len = 0;

	while (len < rest.len && is_id_char(kind, rest.text[len]))
		len++;
	return len;
}

static struct span behind(struct span rest, size_t len)
{
	return (struct span){rest.text + len, rest.len - len};
}

static bool begins_with(struct span rest, const char *text)
{
	const size_t len = strlen(text);

	return rest.len >= len && memcmp(rest.text, text, len) == 0;
}

/* Whether a number may end in front of rest. "$$Lambda$1st" has no number. */
static bool is_end(struct span rest)
{
	return rest.len == 0 || strchr("$/.+_", rest.text[0]) != NULL;
}

/*
 * The length of the suffix of a hidden class's name at rest, or 0. JVMTI writes
 * ".0x00007fa83c001428". Class.getName writes '/' instead of '.', HotSpot itself '+'. Names of
 * classes made for a hidden class have '_'. Before JDK 15 the suffix was '/' and a decimal number.
 */
static size_t hidden_len(struct span rest)
{
	const bool is_hex = rest.len > 3 && rest.text[1] == '0' && rest.text[2] == 'x';
	size_t len;

	if (rest.len < 2 || !strchr("./+_", rest.text[0]))
		return 0;
	len = is_hex ? 3 : 1;
	len += id_len(is_hex ? ID_HEX : ID_DECIMAL, behind(rest, len));
	if (len <= (is_hex ? 3 : 1) || (rest.text[0] == '_' && len < 3 + HIDDEN_DIGITS))
		return 0;
	if (!is_hex && (rest.text[0] != '/' || len < rest.len))
		return 0;
	return is_end(behind(rest, len)) ? len : 0;
}

/*
 * Whether a generated part stands at rest. Returns how much of the part is kept, and its whole
 * length.
 */
static bool find_mark(struct span rest, bool begins, size_t *ret_kept, size_t *ret_len)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const struct mark *mark = &marks[i];
		const size_t kept = strlen(mark->text), from = kept + strlen(mark->separator);
		size_t id;

		if (rest.text[0] != mark->text[0] || (mark->place != ANYWHERE && !begins) ||
		    !begins_with(rest, mark->text) ||
		    !begins_with(behind(rest, kept), mark->separator))
			continue;
		id = id_len(mark->id, behind(rest, from));
		if (id == 0 || !is_end(behind(rest, from + id)) ||
		    (mark->place == AT_START_OF_MORE && !begins_with(behind(rest, from + id), "$")))
			continue;
		*ret_kept = kept;
		*ret_len = from + id;
		return true;
	}
	return false;
}

/*
 * The length of the number that Clojure has put behind the name of a function, or of a symbol that
 * it made up: "__8262", or 0. Such names stand behind a '$'.
 */
static size_t number_len(struct span rest)
{
	size_t len;

	if (!begins_with(rest, "__"))
		return 0;
	len = id_len(ID_DECIMAL, behind(rest, 2));
	return len > 0 && is_end(behind(rest, 2 + len)) ? 2 + len : 0;
}

/* ---- forbidden characters ---- */

/* What a compiler writes for a character. */
struct spelling {
	const char *text;
	char character;
};

static const struct spelling clojure[] = {
	{"_BANG_", '!'},      {"_QMARK_", '?'},	  {"_STAR_", '*'},	   {"_PLUS_", '+'},
	{"_EQ_", '='},	      {"_LT_", '<'},	  {"_GT_", '>'},	   {"_SLASH_", '/'},
	{"_AMPERSAND_", '&'}, {"_PERCENT_", '%'}, {"_BAR_", '|'},	   {"_TILDE_", '~'},
	{"_COLON_", ':'},     {"_SHARP_", '#'},	  {"_SINGLEQUOTE_", '\''}, {"_CIRCA_", '@'},
};

static const struct spelling scala[] = {
	{"$plus", '+'},	 {"$minus", '-'},   {"$times", '*'}, {"$div", '/'},   {"$eq", '='},
	{"$less", '<'},	 {"$greater", '>'}, {"$bang", '!'},  {"$colon", ':'}, {"$amp", '&'},
	{"$bar", '|'},	 {"$percent", '%'}, {"$qmark", '?'}, {"$at", '@'},    {"$hash", '#'},
	{"$tilde", '~'}, {"$up", '^'},
};

struct spellings {
	const struct spelling *all;
	size_t count;
};

static const struct spellings of_classes = {clojure, sizeof(clojure) / sizeof(clojure[0])};
static const struct spellings of_methods = {scala, sizeof(scala) / sizeof(scala[0])};

/*
 * Whether a word goes on there. Scala's setter of x is x_$eq, and a method $equals is none of "=".
 */
static bool is_word(struct span rest)
{
	return rest.len > 0 && is_id_char(ID_WORD, rest.text[0]);
}

/* The length of what stands for a character at rest, or 0. */
static size_t find_spelling(struct span rest, const struct spellings *spellings, char *ret)
{
	for (size_t i = 0; i < spellings->count; i++) {
		const char *const text = spellings->all[i].text;
		const size_t len = strlen(text);

		if (!begins_with(rest, text) || (text[0] == '$' && is_word(behind(rest, len))))
			continue;
		*ret = spellings->all[i].character;
		return len;
	}
	return 0;
}

/* The same for a backslash and a character. \= is nothing, in front of a name with others. */
static size_t find_escape(struct span rest, char *ret, size_t *ret_kept)
{
	static const char escapes[] = "-|,?!%{}^_=", characters[] = "\\/.;:$[]<>";
	const char *const found = rest.len > 1 && rest.text[0] == '\\' && rest.text[1]
					  ? strchr(escapes, rest.text[1])
					  : NULL;

	if (!found)
		return 0;
	*ret_kept = *found != '=';
	*ret = characters[found - escapes];
	return 2;
}

/* ---- writing ---- */

static void put(struct out *out, const char *text, size_t len)
{
	const size_t room = out->size - out->used, n = len < room ? len : room;

	memcpy(out->text + out->used, text, n);
	out->used += n;
}

/* Writes what is left of the part at the start of rest. Returns the part's length, at least 1. */
static size_t put_part(struct out *out, struct span rest, const struct spellings *spellings)
{
	char character;
	size_t kept = 1, len = find_escape(rest, &character, &kept);

	if (len == 0 && spellings)
		len = find_spelling(rest, spellings, &character);
	put(out, len > 0 ? &character : rest.text, kept);
	return len > 0 ? len : 1;
}

static void put_normalised(struct out *out, struct span name)
{
	bool is_inner = false;
	size_t at = 0;

	while (at < name.len) {
		const struct span rest = behind(name, at);
		const bool begins = at == 0 || name.text[at - 1] == '/';
		size_t kept = 0, len = at > 0 ? hidden_len(rest) : 0;

		is_inner = !begins && (is_inner || rest.text[0] == '$');
		if (len == 0 && is_inner)
			len = number_len(rest);
		if (len == 0)
			find_mark(rest, begins, &kept, &len);
		put(out, rest.text, kept);
		at += len > 0 ? len : put_part(out, rest, is_inner ? &of_classes : NULL);
	}
}

static void put_method(struct out *out, const char *name)
{
	struct span rest = {name, strlen(name)};

	while (rest.len > 0)
		rest = behind(rest, put_part(out, rest, &of_methods));
}

/*
 * Whether the '/' at rest is one of a package. No package begins with a digit, but a hidden class's
 * suffix may.
 */
static bool is_package_slash(struct span rest)
{
	return rest.text[0] == '/' && (rest.len < 2 || !ascii_is_digit(rest.text[1]));
}

static struct span without_package(struct span name)
{
	for (size_t at = name.len; at > 0; at--) {
		if (is_package_slash(behind(name, at - 1)))
			return behind(name, at);
	}
	return name;
}

static void put_dots(char *text, size_t len)
{
	const struct span name = {text, len};

	for (size_t at = 0; at < len; at++) {
		if (is_package_slash(behind(name, at)))
			text[at] = '.';
	}
}

/* Writes the class's name, in the form that the style says. */
static void put_class(const struct java_name_options *options, struct span name, struct out *out)
{
	if (options->style == JAVA_NAME_SIMPLE)
		name = without_package(name);
	if (options->is_raw)
		put(out, name.text, name.len);
	else
		put_normalised(out, name);
}

size_t java_name_write(const struct java_name_options *options, const struct java_name *method,
		       char *ret, size_t size)
{
	const struct span class_name = {method->class_name, strlen(method->class_name)};
	struct out out = {.text = ret, .size = size};

	put_class(options, class_name, &out);
	if (options->style == JAVA_NAME_DOT)
		put_dots(ret, out.used);
	put(&out, ".", 1);
	if (options->is_raw)
		put(&out, method->name, strlen(method->name));
	else
		put_method(&out, method->name);
	if (options->style == JAVA_NAME_SIGNATURE && method->signature)
		put(&out, method->signature, strlen(method->signature));
	out.used = utf8_cut(ret, out.used, size - 1);
	ret[out.used] = '\0';
	return out.used;
}

/* The word of a primitive type's descriptor, or NULL. */
static const char *primitive(struct span type)
{
	static const char letters[] = "BCDFIJSZV";
	static const char *const names[] = {"byte", "char",  "double",	"float", "int",
					    "long", "short", "boolean", "void"};
	const char *const letter = type.len == 1 ? strchr(letters, type.text[0]) : NULL;

	return letter && *letter ? names[letter - letters] : NULL;
}

size_t java_name_write_type(const struct java_name_options *options, const char *type, char *ret,
			    size_t size)
{
	const size_t dimensions = strspn(type, "[");
	struct span element = {type + dimensions, strlen(type + dimensions)};
	const char *const word = primitive(element);
	struct out out = {.text = ret, .size = size};

	if (word) {
		put(&out, word, strlen(word));
	} else {
		java_text_strip_class(&element.text, &element.len);
		put_class(options, element, &out);
		put_dots(ret, out.used);
	}
	for (size_t i = 0; i < dimensions; i++)
		put(&out, "[]", 2);
	out.used = utf8_cut(ret, out.used, size - 1);
	ret[out.used] = '\0';
	return out.used;
}
