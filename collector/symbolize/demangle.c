// SPDX-License-Identifier: Apache-2.0
/*
 * libiberty's demanglers behind a bound on their output, see demangle.h.
 *
 * Both manglings have back references, so that a name of 100 bytes can stand for a text of 2^50.
 * libiberty bounds its recursion but not what it prints, and its callback cannot ask it to stop.
 * Therefore the callback leaves by longjmp once the buffer is full. The C++ side keeps nothing on
 * the heap meanwhile; the Rust side may lose one small buffer, and only for a Punycode identifier
 * in a name made to overflow.
 */
#include "symbolize/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

/* No compiler's name of use to a reader is longer, and the work may grow with the square. */
#define MANGLED_MAX 8192

/* Without DMGL_PARAMS: JavaThread::run, as flame graphs show it, not JavaThread::run(). */
#define OPTIONS (DMGL_NO_OPTS | DMGL_ANSI)

typedef int demangler(const char *name, int options, demangle_callbackref append, void *opaque);

struct output {
	char *buf;
	size_t size, len;
	jmp_buf full;
};

bool demangle_is_candidate(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

static void append(const char *text, size_t len, void *opaque)
{
	struct output *out = opaque;

	if (len >= out->size - out->len)
		longjmp(out->full, 1);
	memcpy(out->buf + out->len, text, len);
	out->len += len;
}

static size_t run(demangler *demangle, const char *name, struct output *out)
{
	out->len = 0;
	if (setjmp(out->full) != 0)
		return 0;
	if (!demangle(name, OPTIONS, append, out))
		return 0;
	out->buf[out->len] = '\0';
	return out->len;
}

size_t demangle_name(const char *name, char *buf, size_t size)
{
	struct output out = {.buf = buf, .size = size};
	size_t len;

	if (size == 0 || !demangle_is_candidate(name) ||
	    strnlen(name, MANGLED_MAX + 1) > MANGLED_MAX)
		return 0;
	/* Rust's legacy names are C++ names with a hash at their end, so Rust goes first. */
	len = run(rust_demangle_callback, name, &out);
	if (len == 0)
		len = run(cplus_demangle_v3_callback, name, &out);
	return len;
}
