// SPDX-License-Identifier: Apache-2.0
/*
 * Reads a line number table as HotSpot packs it, see line_table.h. Each entry says by how much its
 * bytecode index and its line differ from those of the entry before; both begin at 0:
 *
 *   00           the end
 *   bbbbblll     5 bits for the bytecode index, 3 for the line
 *   ff B.. L..   two numbers of unsigned5.h; the lowest bit of each is its sign
 */
#include "code/line_table.h"

#include "code/unsigned5.h"

#define ENTRY_NUMBERS 0xff

/* A number whose lowest bit is its sign. */
static bool read_number(struct line_table_walk *walk, uint32_t *ret)
{
	const struct line_table *table = walk->table;
	uint32_t number;

	if (!unsigned5_read(table->bytes, table->len, table->is_biased, &walk->pos, &number))
		return false;
	*ret = (number >> 1) ^ (0 - (number & 1));
	return true;
}

/* A table is broken where its bytes end too early, or a number is too large. */
bool line_table_next(struct line_table_walk *walk)
{
	const struct line_table *table = walk->table;
	uint32_t bci, line;
	uint8_t byte;

	if (walk->pos >= table->len)
		return false;
	byte = table->bytes[walk->pos++];
	if (byte == 0)
		return false;
	if (byte != ENTRY_NUMBERS) {
		bci = byte >> 3;
		line = byte & 7;
	} else if (!read_number(walk, &bci) || !read_number(walk, &line)) {
		return false;
	}
	walk->bci += bci;
	walk->line += line;
	return walk->bci <= UINT16_MAX && walk->line <= UINT16_MAX;
}

size_t line_table_bytes(const struct line_table *table)
{
	struct line_table_walk walk = {.table = table};

	while (line_table_next(&walk))
		;
	return walk.pos > 0 && table->bytes[walk.pos - 1] == 0 ? walk.pos : 0;
}

/* Class files may list lines in any order: the line that begins last at or before bci counts. */
uint32_t line_table_find(const struct line_table *table, int32_t bci)
{
	struct line_table_walk walk = {.table = table};
	uint32_t best_bci = 0, best = 0;

	while (bci >= 0 && line_table_next(&walk)) {
		if (walk.bci <= (uint32_t)bci && (!best || walk.bci > best_bci)) {
			best_bci = walk.bci;
			best = walk.line;
		}
	}
	return best;
}
