// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes of an unwind table -> numbers, never read beyond the end
 * units:   bytes; elf_addr is p_vaddr
 * threads: values
 * errors:  is_broken is set at the first number that does not fit; later numbers are 0
 * source:  DWARF 5 section 7.6 (LEB128), Linux Standard Base "DWARF Exception Header Encoding"
 */
#ifndef FG_ELF_CFI_CURSOR_H
#define FG_ELF_CFI_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi_cursor {
	const unsigned char *at, *end;
	uint64_t elf_addr; /* of the byte at */
	bool is_broken;
};

#define CFI_POINTER_ABSOLUTE 0x00 /* 8 bytes: only files of 64 bits are read */
#define CFI_POINTER_FORM     0x0f
#define CFI_POINTER_BASE     0x70
#define CFI_POINTER_PCREL    0x10
#define CFI_POINTER_OMITTED  0xff

static inline size_t cfi_cursor_left(const struct cfi_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

/* Reads a little-endian number of 1, 2, 4 or 8 bytes. */
uint64_t cfi_cursor_read(struct cfi_cursor *cursor, size_t bytes);
uint64_t cfi_cursor_read_uleb(struct cfi_cursor *cursor);
int64_t cfi_cursor_read_sleb(struct cfi_cursor *cursor);
void cfi_cursor_skip(struct cfi_cursor *cursor, uint64_t bytes);
/* Returns a cursor of the next bytes, and moves cursor behind these bytes. */
struct cfi_cursor cfi_cursor_split(struct cfi_cursor *cursor, uint64_t bytes);
/* Reads the number of an encoded pointer, without adding its base. */
uint64_t cfi_cursor_read_form(struct cfi_cursor *cursor, uint8_t encoding);
/* Reads a pointer that is absolute or relative to its own address; other bases set is_broken. */
uint64_t cfi_cursor_read_pointer(struct cfi_cursor *cursor, uint8_t encoding);

#endif
