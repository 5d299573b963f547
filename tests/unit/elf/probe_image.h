// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   notes and functions -> an ELF file of code and data that has them
 * units:   bytes, elf_addr
 * threads: one
 * errors:  fails the test if it does not fit
 * source:  elf(5), "User Space Probe Implementation" of SystemTap
 *
 * Life cycle: probe_image_init, changes, probe_image_load. The code is PROBE_IMAGE_CODE_BYTES nops.
 * The data segment has PROBE_IMAGE_DATA_BYTES in the file, and as many behind them that are not in
 * the file.
 */
#ifndef FG_TESTS_ELF_PROBE_IMAGE_H
#define FG_TESTS_ELF_PROBE_IMAGE_H

#include "elf/probe_notes.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_IMAGE_CODE	0x10000 /* elf_addr */
#define PROBE_IMAGE_CODE_OFF	0x1000
#define PROBE_IMAGE_CODE_BYTES	0x1000
#define PROBE_IMAGE_DATA	0x20010 /* elf_addr */
#define PROBE_IMAGE_DATA_OFF	0x2010
#define PROBE_IMAGE_DATA_BYTES	0x100
#define PROBE_IMAGE_BASE	0x30000
#define PROBE_IMAGE_NOTES_BYTES (2u << 20)

struct probe_image {
	Elf64_Ehdr header;
	Elf64_Phdr code, data;
	uint64_t base; /* address of .stapsdt.base; 0: no such section */
	uint32_t type; /* sh_type of the notes */
	unsigned char *notes, *text;
	size_t notes_len;
	Elf64_Sym symbols[4];
	size_t symbol_count;
	char names[256]; /* of symbols */
	size_t names_len;
	size_t file_bytes; /* the file is cut there; SIZE_MAX: whole */
};

void probe_image_init(struct probe_image *image, uint16_t machine);
void probe_image_fini(struct probe_image *image);
/* Adds a note as compilers do. */
void probe_image_add(struct probe_image *image, const char *provider, const char *name, uint64_t pc,
		     uint64_t semaphore);
/* Adds a note of any contents. */
void probe_image_add_raw(struct probe_image *image, const char *owner, uint32_t type,
			 const void *desc, size_t len);
void probe_image_add_function(struct probe_image *image, const char *name, uint64_t addr,
			      uint16_t section);
int probe_image_open(const struct probe_image *image);
int probe_image_load(const struct probe_image *image, struct probe_notes **ret);

#endif
