// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   LEB128 <-> uint32_t; for the files of this folder only
 * units:   bytes
 * threads: any
 * errors:  false for a number that is cut short or does not fit into 32 bits
 * source:  shared/README.md, METHOD_LOAD, section 1
 */
#ifndef FG_WIRE_VARINT_H
#define FG_WIRE_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_VARINT_MAX_BYTES 5

/* Returns the number of bytes written. */
static inline size_t wire_varint_write(uint8_t bytes[WIRE_VARINT_MAX_BYTES], uint32_t value)
{
	size_t len = 0;

	while (value >= 0x80) {
		bytes[len++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	bytes[len++] = (uint8_t)value;
	return len;
}

/* Moves *data and *left behind the number; on failure leaves them as they were. */
static inline bool wire_varint_read(const uint8_t **data, size_t *left, uint32_t *ret)
{
	uint64_t value = 0;

	for (size_t i = 0; i < WIRE_VARINT_MAX_BYTES && i < *left; i++) {
		const uint8_t byte = (*data)[i];

		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte & 0x80 || value > UINT32_MAX)
			continue;
		*data += i + 1;
		*left -= i + 1;
		*ret = (uint32_t)value;
		return true;
	}
	return false;
}

#endif
