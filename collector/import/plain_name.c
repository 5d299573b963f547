// SPDX-License-Identifier: Apache-2.0
/* Names of C++ and Rust as their sources have them, see plain_name.h. */
#include "import/plain_name.h"

#include "base/utf8.h"
#include "symbolize/demangle.h"

#include <string.h>

#define MAX_PLAIN_BYTES 4096u
#define RUST_HASH_BYTES 19u /* ::h and 16 hexadecimal digits */

static bool starts_with(const char *text, const char *what)
{
	return strncmp(text, what, strlen(what)) == 0;
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

bool plain_name_cut_hash(char *name)
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

const char *plain_name(struct arena *arena, const char *name)
{
	char text[MAX_PLAIN_BYTES];
	const size_t len = name ? demangle_name(name, DEMANGLE_PLAIN, text, sizeof(text)) : 0;
	char *const plain = len > 0 ? arena_copy(arena, text, len) : NULL;

	if (plain)
		plain_name_cut_hash(plain);
	return plain ? plain : name;
}
