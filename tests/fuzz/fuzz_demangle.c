// SPDX-License-Identifier: Apache-2.0
/*
 * Linker names, which the files of targets choose, in each style and with room for little and for
 * much. What is returned is the length of a terminated text that fits, is the same the next time,
 * and with more room is the same or was too long before. In simple names no brackets have contents.
 */
#include "fuzzer.h"

#include "base/utf8.h"
#include "symbolize/demangle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME   9000 /* a little longer than is read */
#define LARGE	   4096
#define SMALL	   64
#define GUARD_BYTE 0x5a

/* The Rust demangler may lose a buffer when a text does not fit, see demangle.c. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static size_t demangle(const char *name, enum demangle_style style, char *buf, size_t size)
{
	size_t len;

	memset(buf, GUARD_BYTE, size + 1);
	len = demangle_name(name, style, buf, size);
	if ((uint8_t)buf[size] != GUARD_BYTE || len >= (size ? size : 1) ||
	    (len > 0 && strlen(buf) != len) || (len > 0 && !demangle_is_candidate(name)))
		abort();
	return len;
}

static void check(const char *name, enum demangle_style style)
{
	static char large[LARGE + 1], again[LARGE + 1], small[SMALL + 1], clean[LARGE + 1];
	const size_t len = demangle(name, style, large, LARGE);
	uint32_t code;

	if (demangle(name, style, again, LARGE) != len || (len && strcmp(large, again) != 0))
		abort();
	if (demangle(name, style, small, SMALL) != (len < SMALL ? len : 0) && len > 0)
		abort();
	if (len > 0 && len < SMALL && strcmp(small, large) != 0)
		abort();
	if (demangle(name, style, small, 0) != 0)
		abort();
	if (len == 0)
		return;
	/* What every name goes through before it is shown. */
	utf8_clean(large, len, clean, sizeof(clean));
	for (size_t at = 0, n = strlen(clean); at < n;) {
		at += utf8_next(clean + at, n - at, &code);
		if (code == UTF8_BAD)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[MAX_NAME + 1];

	if (size > MAX_NAME)
		size = MAX_NAME;
	memcpy(name, data, size);
	name[size] = '\0';
	for (int style = 0; style < DEMANGLE_STYLES; style++)
		check(name, (enum demangle_style)style);
	return 0;
}
