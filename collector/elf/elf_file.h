// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an ELF file of unknown origin -> its loadable segments, build ID and functions
 * units:   elf_addr is p_vaddr, file_off bytes in the file
 * threads: one at a time
 * errors:  -EINVAL: no regular file; -ENOEXEC: no executable or library of this machine's byte
 *          order; -EFBIG: more than the limits below; -ENOMEM
 * source:  elf(5), libelf
 *
 * The file is read, never mapped. Its contents are hostile: values that do not fit are left out.
 */
#ifndef FG_ELF_ELF_FILE_H
#define FG_ELF_ELF_FILE_H

#include "elf/elf_layout.h"

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_FILE_MAX_SYMBOLS	   (4u << 20)
#define ELF_FILE_MAX_STRINGS_BYTES (256u << 20)
#define ELF_FILE_SONAME_BYTES	   128

/* A symbol that names code. */
struct elf_function {
	uint64_t elf_addr;
	const char
		*name; /* terminated, not empty, may end in @VERSION; lives until elf_file_close */
	uint32_t size; /* within the segment; 0: not known */
	uint32_t room; /* bytes to the end of its section or segment */
	uint32_t rank; /* of several names of one address, the one with the highest rank is best */
	bool is_label; /* STT_NOTYPE: does not count inside of a function */
	bool is_plt;   /* an entry of the PLT, which leads to the function of this name */
};

struct elf_file {
	Elf *elf;
	struct elf_layout layout;
	uint16_t machine; /* EM_* */
};

/* The caller owns fd, which must stay open until elf_file_close. */
int elf_file_open(int fd, struct elf_file *ret);
/* Opens a file with symbols or DWARF for another file; it need not have segments. */
int elf_file_open_debug(int fd, struct elf_file *ret);
/* As elf_file_open_debug, of a file in memory, which the caller keeps until elf_file_close. */
int elf_file_open_image(const char *image, size_t len, struct elf_file *ret);
void elf_file_close(struct elf_file *file); /* a zero-filled struct is legal */

/* DT_SONAME; "" if there is none, or if it cannot be a file's name. */
void elf_file_read_soname(struct elf_file *file, char ret[ELF_FILE_SONAME_BYTES]);

#endif
