// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a program of Go and its unwind rows -> the same rows, with roots
 * units:   elf_addr; offsets from the rows' base
 * threads: one at a time
 * errors:  -ENOMEM; rows are unchanged
 * source:  Go's runtime/asm_amd64.s and asm_arm64.s, cmd/link's .debug_frame
 *
 * Go's rules say of each function where its caller's frame is, also of those that have no caller.
 * On top of a goroutine's stack lies the address of runtime.goexit, and a thread begins in
 * runtime.mstart or runtime.rt0_go. The program's own symbols say where these are.
 */
#ifndef FG_ELF_GO_ROOTS_H
#define FG_ELF_GO_ROOTS_H

#include "elf/elf_file.h"
#include "flow/cfi_rows.h"

/* Of a file that is no program of Go, or has no symbols, nothing changes. */
int go_roots_mark(const struct elf_file *file, struct cfi_rows *rows);
/* Makes the rows from start to end roots, and of no code before and behind; offsets of the base. */
int go_roots_mark_span(struct cfi_rows *rows, uint32_t start, uint32_t end);

#endif
