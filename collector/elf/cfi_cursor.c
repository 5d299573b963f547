// SPDX-License-Identifier: Apache-2.0
/*
 * Reads numbers of an unwind table, see cfi_cursor.h. The encoding of a pointer is a byte:
 *
 *   0x0f  form: 0 pointer, 1 uleb128, 2 to 4 u16 u32 u64, 9 sleb128, a to c s16 s32 s64
 *   0x70  base: 0 none, 1 the pointer's own address, other bases are not read here
 *   0x80  indirect: the pointer is at the address, in the process's memory, and is not read here
 */
#include "elf/cfi_cursor.h"

#define MAX_LEB_BYTES 10 /* enough for 64 bits; a longer number has needless padding */

static void fail(struct cfi_cursor *cursor)
{
	cursor->is_broken = true;
	cursor->at = cursor->end;
}

void cfi_cursor_skip(struct cfi_cursor *cursor, uint64_t bytes)
{
	if (bytes > cfi_cursor_left(cursor)) {
		fail(cursor);
		return;
	}
	cursor->at += bytes;
	cursor->elf_addr += bytes;
}

uint64_t cfi_cursor_read(struct cfi_cursor *cursor, size_t bytes)
{
	uint64_t value = 0;

	if (bytes > cfi_cursor_left(cursor)) {
		fail(cursor);
		return 0;
	}
	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)cursor->at[i] << (8 * i);
	cfi_cursor_skip(cursor, bytes);
	return value;
}

/* Bits beyond the 64th are dropped. *ret_bits is the number of bits in the bytes. */
static uint64_t read_leb(struct cfi_cursor *cursor, unsigned *ret_bits, bool *ret_sign)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < MAX_LEB_BYTES; i++) {
		const uint64_t byte = cfi_cursor_read(cursor, 1);

		value |= (byte & 0x7f) << (7 * i);
		if (byte & 0x80)
			continue;
		*ret_bits = 7 * (i + 1);
		*ret_sign = (byte & 0x40) != 0;
		return value;
	}
	fail(cursor);
	*ret_bits = 64;
	*ret_sign = false;
	return 0;
}

uint64_t cfi_cursor_read_uleb(struct cfi_cursor *cursor)
{
	unsigned bits;
	bool sign;

	return read_leb(cursor, &bits, &sign);
}

int64_t cfi_cursor_read_sleb(struct cfi_cursor *cursor)
{
	unsigned bits;
	bool sign;
	uint64_t value = read_leb(cursor, &bits, &sign);

	if (sign && bits < 64)
		value |= UINT64_MAX << bits;
	return (int64_t)value;
}

struct cfi_cursor cfi_cursor_split(struct cfi_cursor *cursor, uint64_t bytes)
{
	struct cfi_cursor part = *cursor;

	cfi_cursor_skip(cursor, bytes);
	part.end = cursor->at;
	if (cursor->is_broken)
		fail(&part);
	return part;
}

uint64_t cfi_cursor_read_form(struct cfi_cursor *cursor, uint8_t encoding)
{
	switch (encoding & CFI_POINTER_FORM) {
	case 0x0:
	case 0x4:
	case 0xc:
		return cfi_cursor_read(cursor, 8);
	case 0x1:
		return cfi_cursor_read_uleb(cursor);
	case 0x2:
		return cfi_cursor_read(cursor, 2);
	case 0x3:
		return cfi_cursor_read(cursor, 4);
	case 0x9:
		return (uint64_t)cfi_cursor_read_sleb(cursor);
	case 0xa:
		return (uint64_t)(int16_t)cfi_cursor_read(cursor, 2);
	case 0xb:
		return (uint64_t)(int32_t)cfi_cursor_read(cursor, 4);
	default:
		fail(cursor);
		return 0;
	}
}

uint64_t cfi_cursor_read_pointer(struct cfi_cursor *cursor, uint8_t encoding)
{
	const uint64_t place = cursor->elf_addr;
	const uint8_t base = encoding & (uint8_t)~CFI_POINTER_FORM;
	uint64_t value;

	if (base != 0 && base != CFI_POINTER_PCREL) {
		fail(cursor);
		return 0;
	}
	value = cfi_cursor_read_form(cursor, encoding);
	return base == CFI_POINTER_PCREL && !cursor->is_broken ? place + value : value;
}
