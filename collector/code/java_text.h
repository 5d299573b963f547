// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   Java names as JVMTI writes them -> UTF-8 names as people read them
 * units:   bytes
 * threads: any
 * errors:  bytes that are not modified UTF-8 become '?'
 * source:  JVM specification 4.4.7 (modified UTF-8) and 4.3.2 (descriptors)
 */
#ifndef FG_CODE_JAVA_TEXT_H
#define FG_CODE_JAVA_TEXT_H

#include <stddef.h>

/*
 * Converts modified UTF-8 to UTF-8, which is never longer. ret has room for len bytes and is not
 * terminated. Returns the number of bytes written. A NUL becomes '?', a surrogate pair becomes one
 * character.
 */
size_t java_text_to_utf8(const char *text, size_t len, char *ret);

/*
 * Converts UTF-8 to modified UTF-8, which is longer by half at most; bytes that are not UTF-8 stay.
 * ret has room for size bytes and is not terminated. Returns the number of bytes written; what has
 * no room is left out.
 */
size_t java_text_from_utf8(const char *text, size_t len, char *ret, size_t size);

/* Ljava/lang/String; -> java/lang/String, by moving *text and *len; other texts do not change. */
void java_text_strip_class(const char **text, size_t *len);

#endif
