// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   fields of a capture's records -> bytes, and back
 * units:   bytes
 * threads: one at a time
 * errors:  a cursor that needs more bytes than are left has failed: from then on it gives 0 and ""
 * source:  capture_format.h
 */
#ifndef FG_CAPTURE_CAPTURE_CODEC_H
#define FG_CAPTURE_CAPTURE_CODEC_H

#include "encode/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of tables: those that walks and names of stacks ask for. */
#define CAPTURE_TABLE_KINDS (TABLE_SYMBOLS + 1)

/*
 * What is said of a table that is missing in one step, and may be there in the next one. The first
 * CAPTURE_LATE_ONES are of tables that come; of others nobody knows.
 */
#define CAPTURE_LATE	  5
#define CAPTURE_LATE_ONES 2
extern const char *const capture_late[CAPTURE_LATE];
/* The number of such a reason; that of the first one for any other text. */
unsigned capture_late_of(const char *reason);

/* Writes a text. A text of CAPTURE_MAX_TEXT bytes or more is cut. NULL is written as "". */
void capture_put_text(struct bytes *bytes, const char *text);
void capture_put_data(struct bytes *bytes, const void *data, size_t len);
/* Writes a signed number. Numbers near to 0 take the fewest bytes. */
void capture_put_signed(struct bytes *bytes, int64_t value);

struct capture_cursor {
	const uint8_t *at, *end;
	bool failed;
};

uint64_t capture_get(struct capture_cursor *cursor);
/* Reads a number of at most max. A larger number is a failure. */
uint64_t capture_get_up_to(struct capture_cursor *cursor, uint64_t max);
int64_t capture_get_signed(struct capture_cursor *cursor);
bool capture_get_bool(struct capture_cursor *cursor);
/* Reads at most max bytes, which are borrowed. */
const uint8_t *capture_get_data(struct capture_cursor *cursor, size_t max, size_t *ret_len);
/* Copies a text, terminated; a text of size or more bytes, or one with a NUL, is a failure. */
void capture_get_text(struct capture_cursor *cursor, char *ret, size_t size);

#endif
