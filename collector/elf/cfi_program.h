// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   call frame instructions -> one state for each range of addresses
 * units:   elf_addr; offsets in bytes
 * threads: values
 * errors:  -ENOEXEC for an instruction that is broken or unknown; the state before it stays
 * source:  DWARF 5 section 6.4.2, Linux Standard Base "DWARF Extensions", the aarch64 DWARF ABI
 */
#ifndef FG_ELF_CFI_PROGRAM_H
#define FG_ELF_CFI_PROGRAM_H

#include "elf/cfi_cursor.h"
#include "elf/cfi_state.h"

/* The parameters of a CIE for the instructions of its functions. */
struct cfi_context {
	uint16_t machine; /* EM_X86_64 or EM_AARCH64 */
	uint8_t encoding; /* of addresses */
	uint64_t code_align;
	int64_t data_align;
};

/* The state of a walk through one function's instructions. */
struct cfi_program {
	const struct cfi_context *context;
	const struct cfi_state *initial; /* the state behind the CIE's initial instructions */
	struct cfi_cursor code;
	uint64_t elf_addr; /* where the state begins */
	struct cfi_state state;
	struct cfi_state *saved; /* CFI_PROGRAM_MAX_SAVED states */
	unsigned saved_count;
};

#define CFI_PROGRAM_MAX_SAVED 64 /* the most nested remember_state */

/* The state before any instruction. */
struct cfi_state cfi_program_first_state(uint16_t machine);

/*
 * Runs instructions up to one that advances the address (returns 1 and the address in *ret_next) or
 * to the end (returns 0). The state holds from program->elf_addr up to *ret_next. To go on, the
 * caller sets program->elf_addr to *ret_next.
 */
int cfi_program_next(struct cfi_program *program, uint64_t *ret_next);

#endif
