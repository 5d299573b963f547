// SPDX-License-Identifier: Apache-2.0
/* Headers in page 0, then code, data, and what section headers lead to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/files.h"
#include "probe_image.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAIL_OFF 0x3000 /* what section headers lead to */

enum { NONE, CODE, NOTES, BASE, SYMBOLS, STRINGS, NAMES, SECTIONS };

static const char section_names[] =
	"\0.text\0.note.stapsdt\0.stapsdt.base\0.dynsym\0.dynstr\0.shstrtab";
static const uint32_t name_at[SECTIONS] = {0, 1, 7, 21, 35, 43, 51};

void probe_image_init(struct probe_image *image, uint16_t machine)
{
	const Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = NAMES,
	};

	*image = (struct probe_image){
		.header = header,
		.code = {.p_type = PT_LOAD,
			 .p_flags = PF_R | PF_X,
			 .p_offset = PROBE_IMAGE_CODE_OFF,
			 .p_vaddr = PROBE_IMAGE_CODE,
			 .p_filesz = PROBE_IMAGE_CODE_BYTES,
			 .p_memsz = PROBE_IMAGE_CODE_BYTES},
		.data = {.p_type = PT_LOAD,
			 .p_flags = PF_R | PF_W,
			 .p_offset = PROBE_IMAGE_DATA_OFF,
			 .p_vaddr = PROBE_IMAGE_DATA,
			 .p_filesz = PROBE_IMAGE_DATA_BYTES,
			 .p_memsz = 2 * PROBE_IMAGE_DATA_BYTES},
		.base = PROBE_IMAGE_BASE,
		.type = SHT_NOTE,
		.notes = calloc(1, PROBE_IMAGE_NOTES_BYTES),
		.text = malloc(PROBE_IMAGE_CODE_BYTES),
		.symbol_count = 1, /* the first symbol is none */
		.names_len = 1,
		.file_bytes = SIZE_MAX,
	};
	assert_non_null(image->notes);
	assert_non_null(image->text);
	memset(image->text, 0x90, PROBE_IMAGE_CODE_BYTES);
	for (size_t at = 0; machine == EM_AARCH64 && at < PROBE_IMAGE_CODE_BYTES; at += 4)
		memcpy(image->text + at, "\x1f\x20\x03\xd5", 4);
}

void probe_image_fini(struct probe_image *image)
{
	free(image->notes);
	free(image->text);
}

void probe_image_add_raw(struct probe_image *image, const char *owner, uint32_t type,
			 const void *desc, size_t len)
{
	const Elf64_Nhdr header = {
		.n_namesz = (uint32_t)strlen(owner) + 1, .n_descsz = (uint32_t)len, .n_type = type};
	unsigned char *const at = image->notes + image->notes_len;
	const size_t name_room = (header.n_namesz + 3) & ~3u, room = (len + 3) & ~(size_t)3;

	assert_true(sizeof(header) + name_room + room <=
		    PROBE_IMAGE_NOTES_BYTES - image->notes_len);
	memcpy(at, &header, sizeof(header));
	memcpy(at + sizeof(header), owner, header.n_namesz);
	memcpy(at + sizeof(header) + name_room, desc, len);
	image->notes_len += sizeof(header) + name_room + room;
}

void probe_image_add(struct probe_image *image, const char *provider, const char *name, uint64_t pc,
		     uint64_t semaphore)
{
	const uint64_t addrs[] = {pc, PROBE_IMAGE_BASE, semaphore};
	char desc[512];
	size_t len = sizeof(addrs);

	memcpy(desc, addrs, len);
	strcpy(desc + len, provider);
	len += strlen(provider) + 1;
	strcpy(desc + len, name);
	len += strlen(name) + 1;
	desc[len++] = '\0'; /* no arguments */
	probe_image_add_raw(image, "stapsdt", 3, desc, len);
}

void probe_image_add_function(struct probe_image *image, const char *name, uint64_t addr,
			      uint16_t section)
{
	assert_true(image->symbol_count < sizeof(image->symbols) / sizeof(image->symbols[0]));
	image->symbols[image->symbol_count++] =
		(Elf64_Sym){.st_name = (Elf64_Word)image->names_len,
			    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			    .st_shndx = section,
			    .st_value = addr,
			    .st_size = 16};
	strcpy(image->names + image->names_len, name);
	image->names_len += strlen(name) + 1;
}

/* Puts a section's bytes at *end. */
static void put(unsigned char *file, size_t *end, Elf64_Shdr *section, const void *bytes,
		size_t len)
{
	section->sh_offset = *end;
	section->sh_size = len;
	memcpy(file + *end, bytes, len);
	*end = (*end + len + 7) & ~(size_t)7;
}

int probe_image_open(const struct probe_image *image)
{
	Elf64_Shdr sections[SECTIONS] = {
		[CODE] = {.sh_type = SHT_PROGBITS,
			  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			  .sh_addr = image->code.p_vaddr},
		[NOTES] = {.sh_type = image->type, .sh_addralign = 4},
		[BASE] = {.sh_type = image->base ? SHT_PROGBITS : SHT_NULL, .sh_addr = image->base},
		[SYMBOLS] = {.sh_type = SHT_DYNSYM,
			     .sh_entsize = sizeof(Elf64_Sym),
			     .sh_link = STRINGS,
			     .sh_addralign = 8},
		[STRINGS] = {.sh_type = SHT_STRTAB},
		[NAMES] = {.sh_type = SHT_STRTAB},
	};
	unsigned char *const file = calloc(1, TAIL_OFF + PROBE_IMAGE_NOTES_BYTES + 0x1000);
	size_t end = PROBE_IMAGE_CODE_OFF;
	Elf64_Ehdr header = image->header;
	int fd;

	assert_non_null(file);
	for (size_t i = 0; i < SECTIONS; i++)
		sections[i].sh_name = name_at[i];
	put(file, &end, &sections[CODE], image->text, PROBE_IMAGE_CODE_BYTES);
	end = TAIL_OFF;
	put(file, &end, &sections[NOTES], image->notes, image->notes_len);
	put(file, &end, &sections[BASE], "", 1);
	put(file, &end, &sections[SYMBOLS], image->symbols,
	    image->symbol_count * sizeof(Elf64_Sym));
	put(file, &end, &sections[STRINGS], image->names, image->names_len);
	put(file, &end, &sections[NAMES], section_names, sizeof(section_names));
	header.e_shoff = end;
	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), &image->code, sizeof(image->code));
	memcpy(file + sizeof(header) + sizeof(image->code), &image->data, sizeof(image->data));
	memcpy(file + end, sections, sizeof(sections));
	end += sizeof(sections);
	fd = files_open_memory(file, end < image->file_bytes ? end : image->file_bytes);
	free(file);
	return fd;
}

int probe_image_load(const struct probe_image *image, struct probe_notes **ret)
{
	const int fd = probe_image_open(image);
	int err;

	err = probe_notes_load(fd, ret);
	close(fd);
	return err;
}
