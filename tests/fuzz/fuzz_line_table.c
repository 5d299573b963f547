// SPDX-License-Identifier: Apache-2.0
/*
 * The line tables of a JVM's memory: any bytes; and tables made here of the lines that the input
 * chooses, whose every answer is known.
 */
#include "fuzzer.h"

#include "code/line_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINES  512
#define LINE_BYTES 11 /* of an entry at most: a mark, and two numbers of five bytes */

struct line {
	uint16_t bci, line;
};

struct table {
	bool is_biased;
	size_t len;
	uint8_t bytes[MAX_LINES * LINE_BYTES + 1];
};

static void check_bounds(const uint8_t *data, size_t size, bool is_biased)
{
	uint8_t *const bytes = malloc(size ? size : 1); /* so that reading beyond it is seen */
	const struct line_table table = {.bytes = bytes, .len = size, .is_biased = is_biased};
	size_t used;

	if (!bytes)
		return;
	memcpy(bytes, data, size);
	used = line_table_bytes(&table);
	if (used > size || (used > 0 && bytes[used - 1] != 0))
		abort();
	for (int32_t bci = -1; bci < 300; bci++) {
		if (line_table_find(&table, bci) > UINT16_MAX)
			abort();
	}
	if (line_table_find(&table, INT32_MIN) || line_table_find(&table, INT32_MAX) > UINT16_MAX)
		abort();
	free(bytes);
}

/* UNSIGNED5 of HotSpot's: before JDK 20 a byte's excess is not taken away. */
static void put_number(struct table *table, int32_t value)
{
	const uint32_t zigzag = ((uint32_t)value << 1) ^ (uint32_t)(value >> 31);
	const uint32_t bias = table->is_biased, low = 192 - bias;
	uint32_t sum = zigzag;

	for (unsigned i = 0; i < 4 && sum >= low; i++) {
		sum -= low;
		table->bytes[table->len++] = (uint8_t)(192 + (sum & 63));
		sum >>= 6;
	}
	table->bytes[table->len++] = (uint8_t)(sum + bias);
}

static void put_line(struct table *table, const struct line *before, const struct line *line)
{
	const int32_t bci = line->bci - before->bci, number = line->line - before->line;

	if (bci >= 0 && bci < 32 && number >= 0 && number < 8 && (bci || number) &&
	    !(bci == 31 && number == 7)) {
		table->bytes[table->len++] = (uint8_t)(bci << 3 | number);
		return;
	}
	table->bytes[table->len++] = 0xff;
	put_number(table, bci);
	put_number(table, number);
}

static uint32_t find(const struct line *lines, size_t n, int32_t bci)
{
	const struct line *best = NULL;

	for (size_t i = 0; i < n; i++) {
		if (lines[i].bci <= bci && (!best || !best->line || lines[i].bci > best->bci))
			best = &lines[i];
	}
	return best ? best->line : 0;
}

static void check_lines(const uint8_t *data, size_t size, bool is_biased)
{
	static struct line lines[MAX_LINES];
	struct line before = {0, 0};
	struct table table = {.is_biased = is_biased};
	const struct line_table view = {
		.bytes = table.bytes, .len = sizeof(table.bytes), .is_biased = is_biased};
	size_t n = size / sizeof(struct line);

	n = n < MAX_LINES ? n : MAX_LINES;
	memcpy(lines, data, n * sizeof(struct line));
	for (size_t i = 0; i < n; i++) {
		put_line(&table, &before, &lines[i]);
		before = lines[i];
	}
	table.bytes[table.len++] = 0;
	if (line_table_bytes(&view) != table.len)
		abort();
	for (size_t i = 0; i < n; i++) {
		for (int32_t bci = lines[i].bci - 1; bci <= lines[i].bci + 1; bci++) {
			if (line_table_find(&view, bci) != find(lines, n, bci))
				abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	check_bounds(data + 1, size - 1, data[0] & 1);
	check_lines(data + 1, size - 1, data[0] & 1);
	return 0;
}
