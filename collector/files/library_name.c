// SPDX-License-Identifier: Apache-2.0
/* Finds the random part of a file's name, see library_name.h. */
#include "files/library_name.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define DIGITS	       "0123456789"
#define DECIMAL_DIGITS 12
#define HEX_DIGITS     16
#define BUILD_ID_SHOWN 12

struct part {
	size_t start, len;
};

static size_t count_hex(const char *text)
{
	size_t n = 0;

	while (isxdigit((unsigned char)text[n]))
		n++;
	return n;
}

/* The length of the UUID that begins at text, or 0. */
static size_t uuid_at(const char *text)
{
	static const size_t groups[] = {8, 4, 4, 4, 12};
	size_t len = 0;

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		if (i > 0 && text[len++] != '-')
			return 0;
		if (count_hex(text + len) < groups[i])
			return 0;
		len += groups[i];
	}
	return len;
}

/*
 * Returns 2 if the digits at start are the 64 of x86_64 or similar, which is not part of the number
 * that follows: libnetty_x86_641234.so.
 */
static size_t width_before(const char *text, size_t start)
{
	static const char *const machines[] = {"x86_", "aarch_", "aarch", "amd",    "arm",
					       "ppc",  "riscv",	 "linux", "windows"};

	if (strncmp(text + start, "64", 2) != 0 && strncmp(text + start, "32", 2) != 0)
		return 0;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		const size_t len = strlen(machines[i]);

		if (start >= len && strncmp(text + start - len, machines[i], len) == 0)
			return 2;
	}
	return 0;
}

static bool decimal_at(const char *text, size_t start, struct part *ret)
{
	const size_t width = width_before(text, start);
	const size_t n = strspn(text + start, DIGITS);

	*ret = (struct part){start + width, n - width};
	return n >= DECIMAL_DIGITS + width;
}

static bool hex_at(const char *text, size_t start, struct part *ret)
{
	const size_t n = count_hex(text + start);

	*ret = (struct part){start, n};
	return n >= HEX_DIGITS && strspn(text + start, DIGITS) < n &&
	       strcspn(text + start, DIGITS) < n;
}

/* Finds the first random part. A random part begins where a run of digits or letters begins. */
static bool find_random(const char *text, struct part *ret)
{
	for (size_t i = 0; text[i]; i++) {
		const bool is_inside = i > 0 && isalnum((unsigned char)text[i - 1]);
		const bool is_digit = isdigit((unsigned char)text[i]) &&
				      !(i > 0 && isdigit((unsigned char)text[i - 1]));

		*ret = (struct part){i, is_inside ? 0 : uuid_at(text + i)};
		if (ret->len > 0 || (!is_inside && hex_at(text, i, ret)) ||
		    (is_digit && decimal_at(text, i, ret)))
			return true;
	}
	return false;
}

bool library_name_is_random(const char *name)
{
	struct part part;

	return strlen(name) >= DECIMAL_DIGITS && find_random(name, &part);
}

static bool is_separator(char c)
{
	return c == '-' || c == '_' || c == '.';
}

/* Writes the name without the part, and without one of the two separators around the part. */
static void leave_out(const char *name, struct part part, char ret[LIBRARY_NAME_BYTES])
{
	size_t end = part.start + part.len;

	if (part.start > 0 && is_separator(name[part.start - 1]) &&
	    (is_separator(name[end]) || !name[end]))
		part.start--;
	else if (part.start == 0 && name[end] != '.' && is_separator(name[end]))
		end++;
	snprintf(ret, LIBRARY_NAME_BYTES, "%.*s%s", (int)part.start, name, name + end);
}

const char *library_name(const char *name, const struct library_own *own,
			 char ret[LIBRARY_NAME_BYTES])
{
	char rest[LIBRARY_NAME_BYTES];
	struct part part;

	if (strlen(name) >= LIBRARY_NAME_BYTES || !find_random(name, &part))
		return name;
	if (own->soname[0] && !library_name_is_random(own->soname)) {
		snprintf(ret, LIBRARY_NAME_BYTES, "%s", own->soname);
		return ret;
	}
	leave_out(name, part, ret);
	while (find_random(ret, &part)) {
		memcpy(rest, ret, sizeof(rest));
		leave_out(rest, part, ret);
	}
	if (isalnum((unsigned char)ret[0]))
		return ret;
	snprintf(ret, LIBRARY_NAME_BYTES, own->build_id[0] ? "build-id-%.*s.so" : "unpacked.so",
		 BUILD_ID_SHOWN, own->build_id);
	return ret;
}
