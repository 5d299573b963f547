// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an ELF file's program headers -> the addresses of its bytes, and its build ID
 * units:   elf_addr is p_vaddr, file_off bytes in the file
 * threads: values
 * errors:  -ENOENT
 * source:  elf(5)
 */
#ifndef FG_ELF_ELF_LAYOUT_H
#define FG_ELF_ELF_LAYOUT_H

#include "elf/elf_starts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_LAYOUT_MAX_SEGMENTS 128 /* PT_LOAD */
#define ELF_LAYOUT_MAX_BUILD_ID 64

struct elf_segment {
	uint64_t elf_addr, file_off;
	uint64_t mem_bytes, file_bytes;
	bool is_executable;
};

/* The segments and the build ID of a file; a value without pointers. */
struct elf_layout {
	struct elf_segment segments[ELF_LAYOUT_MAX_SEGMENTS];
	size_t segment_count;
	unsigned char build_id[ELF_LAYOUT_MAX_BUILD_ID];
	size_t build_id_len;		      /* 0: none */
	struct elf_starts_place eh_frame_hdr; /* bytes 0: none */
};

/* The elf_addr of the byte at file_off of a mapping; -ENOENT if no segment holds the byte. */
int elf_layout_addr_of(const struct elf_layout *layout, uint64_t file_off, uint64_t *ret_elf_addr);
/* Whether the values of a layout from a hostile process are possible ones. */
bool elf_layout_is_sound(const struct elf_layout *layout);
/* Whether segments and build IDs are equal; eh_frame_hdr is not compared. */
bool elf_layout_equal(const struct elf_layout *a, const struct elf_layout *b);

#endif
