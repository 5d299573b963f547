// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   call frame instructions -> an ELF file of program headers only, that has them
 * units:   bytes, elf_addr
 * threads: one
 * errors:  fails the test if it does not fit
 * source:  elf(5), Linux Standard Base "Exception Frames"
 *
 * Life cycle: unwind_image_init, unwind_image_add_cie and _add_fde, unwind_image_load. Bytes may be
 * changed before the load.
 */
#ifndef FG_TESTS_ELF_UNWIND_IMAGE_H
#define FG_TESTS_ELF_UNWIND_IMAGE_H

#include "elf/cfi_table.h"

#include <stddef.h>
#include <stdint.h>

#define UNWIND_IMAGE_CODE	0x10000 /* elf_addr of the first byte of code */
#define UNWIND_IMAGE_CODE_BYTES 0x10000
#define UNWIND_IMAGE_MAX	0x8000

struct unwind_image {
	unsigned char bytes[UNWIND_IMAGE_MAX];
	size_t len;
	uint16_t machine;
};

void unwind_image_init(struct unwind_image *image, uint16_t machine);
/* augmentation "zR" or "zRS"; returns the entry's place in bytes. */
size_t unwind_image_add_cie(struct unwind_image *image, const char *augmentation, const void *code,
			    size_t len);
/* Of a function of that many bytes at UNWIND_IMAGE_CODE + start. */
size_t unwind_image_add_fde(struct unwind_image *image, size_t cie, uint32_t start, uint32_t bytes);
/* Puts instructions behind those of the last entry. */
void unwind_image_append(struct unwind_image *image, size_t entry, const void *code, size_t len);
int unwind_image_load(const struct unwind_image *image, struct cfi_table **ret);

#endif
