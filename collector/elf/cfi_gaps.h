// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an ELF file's rows, and its code that has none -> rows for that code too
 * units:   elf_addr, bytes
 * threads: one at a time
 * errors:  -ENOMEM; rows are unchanged. Code that cannot be read has no rows.
 * source:  none
 *
 * Assembler code, the code that starts a program, and the whole of musl have no unwind rules. Rules
 * for them are found in the code itself (code_rules.h). Such rows have is_decoded set: a walk
 * checks where they lead. Code of aarch64 is not decoded, and only the file's entry point is found.
 */
#ifndef FG_ELF_CFI_GAPS_H
#define FG_ELF_CFI_GAPS_H

#include "flow/cfi_rows.h"
#include "elf/elf_file.h"

#define CFI_GAPS_MAX_BYTES (4u << 20) /* bytes of code of a file that are decoded */

/*
 * Adds to rows, which may be empty but must have a base. fd is the descriptor of file.
 */
int cfi_gaps_fill(int fd, const struct elf_file *file, struct cfi_rows *rows);

/*
 * The offsets from rows->base at which functions begin in code without rows, rising. *ret is the
 * caller's to free.
 */
int cfi_gaps_find_starts(int fd, const struct elf_file *file, const struct cfi_rows *rows,
			 uint32_t **ret, size_t *ret_count);

#endif
