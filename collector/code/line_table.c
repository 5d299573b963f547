// SPDX-License-Identifier: Apache-2.0
/*
 * Reads a line number table as HotSpot packs it, see line_table.h. Each entry says by how much its
 * bytecode index and its line differ from those of the entry before; both begin at 0:
 *
 *   00           the end
 *   bbbbblll     5 bits for the bytecode index, 3 for the line
 *   ff B.. L..   two signed numbers
 *
 * A number is 1 to 5 bytes, the lowest 6 bits first; a byte of 192 or more is followed by another.
 * Since JDK 20 no byte of a number is 0: each byte is one more than its value, and 191 byte values
 * can be the last byte. The lowest bit of a number is its sign.
 */
#include "code/line_table.h"

#define ENTRY_NUMBERS	 0xff
#define LAST_BYTE_BELOW	 192
#define NUMBER_MAX_BYTES 5
#define BITS_A_BYTE	 6

struct reader {
	const struct line_table *table;
	size_t pos;
	uint32_t bci, line;
};

static bool read_number(struct reader *reader, uint32_t *ret)
{
	const struct line_table *table = reader->table;
	uint32_t sum = 0;

	for (unsigned i = 0; i < NUMBER_MAX_BYTES; i++) {
		uint8_t byte;

		if (reader->pos >= table->len)
			return false;
		byte = table->bytes[reader->pos++];
		if (table->is_biased && byte == 0)
			return false;
		sum += (uint32_t)(byte - table->is_biased) << (BITS_A_BYTE * i);
		if (byte < LAST_BYTE_BELOW)
			break;
	}
	*ret = (sum >> 1) ^ (0 - (sum & 1));
	return true;
}

/* False at the end of the table, and where the bytes end too early or a number is too large. */
static bool next(struct reader *reader)
{
	const struct line_table *table = reader->table;
	uint32_t bci, line;
	uint8_t byte;

	if (reader->pos >= table->len)
		return false;
	byte = table->bytes[reader->pos++];
	if (byte == 0)
		return false;
	if (byte != ENTRY_NUMBERS) {
		bci = byte >> 3;
		line = byte & 7;
	} else if (!read_number(reader, &bci) || !read_number(reader, &line)) {
		return false;
	}
	reader->bci += bci;
	reader->line += line;
	return reader->bci <= UINT16_MAX && reader->line <= UINT16_MAX;
}

size_t line_table_bytes(const struct line_table *table)
{
	struct reader reader = {.table = table};

	while (next(&reader))
		;
	return reader.pos > 0 && table->bytes[reader.pos - 1] == 0 ? reader.pos : 0;
}

/* Class files may list lines in any order: the line that begins last at or before bci counts. */
uint32_t line_table_find(const struct line_table *table, int32_t bci)
{
	struct reader reader = {.table = table};
	uint32_t best_bci = 0, best = 0;

	while (bci >= 0 && next(&reader)) {
		if (reader.bci <= (uint32_t)bci && (!best || reader.bci > best_bci)) {
			best_bci = reader.bci;
			best = reader.line;
		}
	}
	return best;
}
