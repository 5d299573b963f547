// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the section .gnu_debugdata of an ELF file -> the ELF file within
 * units:   bytes
 * threads: any
 * errors:  -ENOENT: no such section; -ENOEXEC: broken; -EFBIG: past a limit; -ENOMEM
 * source:  "MiniDebugInfo" of the GDB manual, liblzma
 */
#ifndef FG_ELF_MINI_DEBUG_H
#define FG_ELF_MINI_DEBUG_H

#include "elf/elf_file.h"

#define MINI_DEBUG_MAX_BYTES (128u << 20) /* unpacked */

/* The bytes of the unpacked file, which the caller frees. */
int mini_debug_unpack(const struct elf_file *file, char **ret, size_t *ret_len);

#endif
