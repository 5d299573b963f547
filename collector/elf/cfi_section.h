// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an ELF file -> the bytes of its .eh_frame or .debug_frame
 * units:   bytes, elf_addr
 * threads: values
 * errors:  -ENOENT: no such section; -ENOEXEC, -EFBIG, -ENOMEM; errors of pread(2)
 * source:  elf(5), Linux Standard Base "Exception Frames"
 */
#ifndef FG_ELF_CFI_SECTION_H
#define FG_ELF_CFI_SECTION_H

#include "elf/cfi_entry.h"
#include "elf/elf_file.h"

#define CFI_SECTION_MAX_BYTES (64u << 20)

/* fd is the descriptor of file. The caller frees ret->bytes. */
int cfi_section_read_eh_frame(int fd, const struct elf_file *file, struct cfi_section *ret);
int cfi_section_read_debug_frame(int fd, const struct elf_file *file, struct cfi_section *ret);

#endif
