// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   .eh_frame or .debug_frame -> its entries: an FDE for each function, and CIEs, which
 *          functions share
 * units:   bytes; elf_addr
 * threads: values
 * errors:  -ENOEXEC
 * source:  DWARF 5 section 6.4.1, Linux Standard Base "Exception Frames"
 */
#ifndef FG_ELF_CFI_ENTRY_H
#define FG_ELF_CFI_ENTRY_H

#include "elf/cfi_program.h"

struct cfi_section {
	unsigned char *bytes; /* owned */
	size_t len;
	uint64_t elf_addr;
	uint16_t machine;
	bool is_debug_frame;
	bool is_open_ended; /* its length is not known: an entry of length 0 ends it */
};

struct cfi_entry {
	uint64_t off;	      /* in the section */
	uint64_t cie_off;     /* of an FDE: the offset of its CIE */
	struct cfi_cursor at; /* behind the entry's id */
	bool is_cie;
};

struct cfi_cie {
	uint64_t off;
	struct cfi_context context;
	struct cfi_cursor code; /* initial instructions */
	bool is_signal;
	bool has_length; /* augmentation z: FDEs have the length of their augmentation */
};

struct cfi_fde {
	uint64_t start, end; /* elf_addr */
	struct cfi_cursor code;
};

/*
 * Reads the entry at *off and moves *off behind it. Returns 1; 0 at the end; -ENOEXEC for a broken
 * entry, behind which no entry can be found.
 */
int cfi_entry_next(const struct cfi_section *section, uint64_t *off, struct cfi_entry *ret);
int cfi_entry_read_cie(const struct cfi_section *section, const struct cfi_entry *entry,
		       struct cfi_cie *ret);
int cfi_entry_read_fde(const struct cfi_entry *entry, const struct cfi_cie *cie,
		       struct cfi_fde *ret);

#endif
