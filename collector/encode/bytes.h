// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a text that grows at its end
 * units:   bytes
 * threads: one at a time
 * errors:  kept in failed: nothing more is added then, so that the caller may look once at the end
 * source:  none
 *
 * A zero-filled struct bytes is valid and empty. data is not terminated; bytes_text terminates it.
 */
#ifndef FG_ENCODE_BYTES_H
#define FG_ENCODE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	char *data;
	size_t len;
	size_t size;
	bool failed;
};

void bytes_add(struct bytes *bytes, const void *data, size_t len);
void bytes_add_char(struct bytes *bytes, char c);
/* Without its end. Inline, because most texts are literals, whose length the compiler knows. */
static inline void bytes_add_text(struct bytes *bytes, const char *text)
{
	bytes_add(bytes, text, strlen(text));
}
void bytes_add_varint(struct bytes *bytes, uint64_t value); /* LEB128: 7 bits a byte, low first */
/* The text, terminated; "" if it is empty or failed. Borrowed until the next call on bytes. */
const char *bytes_text(struct bytes *bytes);
void bytes_fini(struct bytes *bytes);

#endif
