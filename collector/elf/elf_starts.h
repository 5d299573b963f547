// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an ELF file's .eh_frame_hdr or .eh_frame -> the start addresses of its functions
 * units:   elf_addr
 * threads: a loaded table is immutable
 * errors:  negative errno; -ENOENT: the file has no section that can be read
 * source:  Linux Standard Base, "The .eh_frame_hdr section"
 *
 * Stripped files keep these sections, because exceptions and unwinders need them. With the starts,
 * samples are grouped by function even where functions have no names. A zero-filled struct
 * elf_starts is valid and empty.
 */
#ifndef FG_ELF_ELF_STARTS_H
#define FG_ELF_ELF_STARTS_H

#include <stddef.h>
#include <stdint.h>

#define ELF_STARTS_MAX (8u << 20)

struct elf_file;

struct elf_starts {
	uint64_t base;	  /* elf_addr */
	int32_t *offsets; /* from base, rising */
	size_t count;
};

/* The place of .eh_frame_hdr, from PT_GNU_EH_FRAME. */
struct elf_starts_place {
	uint64_t elf_addr, file_off, bytes;
};

/* Loads the starts from .eh_frame_hdr. */
int elf_starts_load(int fd, const struct elf_starts_place *hdr, struct elf_starts *ret);
/*
 * Loads the starts from .eh_frame, for files whose .eh_frame_hdr has none. fd is the descriptor of
 * file. -ENOENT, -ENOEXEC, -EFBIG, -ENOMEM.
 */
int elf_starts_scan(int fd, const struct elf_file *file, struct elf_starts *ret);
/*
 * Adds more, which is taken in any case, and whose offsets are from its own base. -ENOMEM, or
 * -EFBIG: too many, or too far from each other.
 */
int elf_starts_merge(struct elf_starts *starts, struct elf_starts *more);
/*
 * The most bytes of the len bytes of code at elf_addr in which no function starts: more than any
 * function has, if functions are missing.
 */
uint64_t elf_starts_longest(const struct elf_starts *starts, uint64_t elf_addr, uint64_t len);
void elf_starts_fini(struct elf_starts *starts);

/* The last start at or before elf_addr; -ENOENT if there is none. */
int elf_starts_find(const struct elf_starts *starts, uint64_t elf_addr, uint64_t *ret_start);
/* The first start behind elf_addr; -ENOENT if there is none. */
int elf_starts_find_next(const struct elf_starts *starts, uint64_t elf_addr, uint64_t *ret_start);

#endif
