// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   call frame instructions -> one state for each range of addresses
 * units:   elf_addr; offsets in bytes
 * threads: values
 * errors:  -ENOEXEC for an instruction that is broken or unknown; the state up to it stands
 * source:  DWARF 5 section 6.4.2, Linux Standard Base "DWARF Extensions", the aarch64 DWARF ABI
 */
#ifndef FG_ELF_CFI_PROGRAM_H
#define FG_ELF_CFI_PROGRAM_H

#include "elf/cfi_cursor.h"
#include "elf/cfi_state.h"

/* What a CIE says of the instructions of its functions. */
struct cfi_context {
	uint16_t machine; /* EM_X86_64 or EM_AARCH64 */
	uint8_t encoding; /* of addresses */
	uint64_t code_align;
	int64_t data_align;
};

/* What a walk through one function's instructions has come to. */
struct cfi_program {
	const struct cfi_context *context;
	const struct cfi_state *initial; /* what restored registers return to */
	struct cfi_cursor code;
	uint64_t elf_addr; /* where the state begins */
	struct cfi_state state;
	struct cfi_state *saved; /* CFI_PROGRAM_MAX_SAVED of them */
	unsigned saved_count;
};

#define CFI_PROGRAM_MAX_SAVED 64 /* remember_state in remember_state */

/* The state before any instruction. */
struct cfi_state cfi_program_first_state(uint16_t machine);

/*
 * Runs up to the end (0) or to an instruction that moves the address on (1), which is *ret_next
 * then: the state holds from program->elf_addr up to there. The caller sets elf_addr to *ret_next
 * to go on.
 */
int cfi_program_next(struct cfi_program *program, uint64_t *ret_next);

#endif
