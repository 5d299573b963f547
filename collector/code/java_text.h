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

/* Ljava/lang/String; -> java/lang/String, by moving *text and *len; other texts do not change. */
void java_text_strip_class(const char **text, size_t *len);

#endif
