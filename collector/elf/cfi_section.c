// SPDX-License-Identifier: Apache-2.0
/*
 * Finds and reads .eh_frame and .debug_frame, see cfi_section.h. In a file without section headers,
 * .eh_frame_hdr has the address of .eh_frame, eh_frame_ptr:
 *
 *   u8 version, 1; u8 encoding of eh_frame_ptr; u8 u8 other encodings; eh_frame_ptr
 *
 * The length of .eh_frame is not known then, and all bytes up to the segment's end are read.
 */
#include "elf/cfi_section.h"

#include "base/file.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_MAX_BYTES 16 /* the bytes of .eh_frame_hdr to the end of eh_frame_ptr */
#define MAX_NAMES_BYTES	 (16u << 20)

#ifndef SHT_X86_64_UNWIND
#define SHT_X86_64_UNWIND 0x70000001
#endif

/*
 * Reads up to *len bytes. *len becomes the number of bytes read, because the file may be cut
 * meanwhile.
 */
static int read_file(int fd, uint64_t off, void *buf, size_t *len)
{
	const ssize_t n = file_read_at(fd, buf, *len, off);

	*len = n < 0 ? *len : (size_t)n;
	return n < 0 ? (int)n : 0;
}

/*
 * Allocates memory for the bytes that the file really has, not for the length that a header states.
 */
static int read_bytes(int fd, uint64_t off, uint64_t len, struct cfi_section *section)
{
	struct stat st;
	int err;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (off >= (uint64_t)st.st_size)
		return -ENOEXEC;
	if (len > (uint64_t)st.st_size - off)
		len = (uint64_t)st.st_size - off;
	if (len > CFI_SECTION_MAX_BYTES)
		return -EFBIG;
	section->len = (size_t)len;
	section->bytes = malloc(section->len ? section->len : 1);
	if (!section->bytes)
		return -ENOMEM;
	err = read_file(fd, off, section->bytes, &section->len);
	if (err) {
		free(section->bytes);
		section->bytes = NULL;
	}
	return err;
}

/* Whether libelf can give the names of sections without reading much. */
static bool has_names(Elf *elf, size_t *ret_index)
{
	GElf_Shdr header;

	return elf_getshdrstrndx(elf, ret_index) == 0 &&
	       gelf_getshdr(elf_getscn(elf, *ret_index), &header) && header.sh_type == SHT_STRTAB &&
	       !(header.sh_flags & SHF_COMPRESSED) && header.sh_size <= MAX_NAMES_BYTES;
}

static bool find_section(const struct elf_file *file, const char *name, GElf_Shdr *ret)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (!has_names(file->elf, &names))
		return false;
	while ((section = elf_nextscn(file->elf, section))) {
		const char *found;

		if (!gelf_getshdr(section, ret) || ret->sh_flags & SHF_COMPRESSED ||
		    (ret->sh_type != SHT_PROGBITS && ret->sh_type != SHT_X86_64_UNWIND))
			continue;
		found = elf_strptr(file->elf, names, ret->sh_name);
		if (found && strcmp(found, name) == 0)
			return true;
	}
	return false;
}

/* Finds the bytes of a segment in the file, from elf_addr to the segment's end. */
static bool find_in_file(const struct elf_layout *layout, uint64_t elf_addr, uint64_t *ret_off,
			 uint64_t *ret_len)
{
	for (size_t i = 0; i < layout->segment_count; i++) {
		const struct elf_segment *segment = &layout->segments[i];

		if (elf_addr < segment->elf_addr ||
		    elf_addr - segment->elf_addr >= segment->file_bytes)
			continue;
		*ret_off = segment->file_off + (elf_addr - segment->elf_addr);
		*ret_len = segment->file_bytes - (elf_addr - segment->elf_addr);
		return true;
	}
	return false;
}

static int read_by_header(int fd, const struct elf_layout *layout, struct cfi_section *section)
{
	const struct elf_starts_place *place = &layout->eh_frame_hdr;
	unsigned char bytes[HEADER_MAX_BYTES];
	size_t bytes_len = place->bytes < sizeof(bytes) ? place->bytes : sizeof(bytes);
	struct cfi_cursor header;
	uint64_t off, len;
	uint8_t encoding;
	int err;

	if (place->bytes == 0 || place->file_off > INT64_MAX)
		return -ENOENT;
	err = read_file(fd, place->file_off, bytes, &bytes_len);
	if (err)
		return err;
	header = (struct cfi_cursor){
		.at = bytes, .end = bytes + bytes_len, .elf_addr = place->elf_addr};
	if (cfi_cursor_read(&header, 1) != 1)
		return -ENOEXEC;
	encoding = (uint8_t)cfi_cursor_read(&header, 1);
	cfi_cursor_skip(&header, 2);
	section->elf_addr = cfi_cursor_read_pointer(&header, encoding);
	if (header.is_broken || !find_in_file(layout, section->elf_addr, &off, &len) ||
	    off > INT64_MAX)
		return -ENOEXEC;
	section->is_open_ended = true;
	return read_bytes(fd, off, len, section);
}

static int read_by_name(int fd, const struct elf_file *file, const char *name,
			struct cfi_section *section)
{
	GElf_Shdr header;

	if (!find_section(file, name, &header))
		return -ENOENT;
	if (header.sh_offset > INT64_MAX)
		return -ENOEXEC;
	section->elf_addr = header.sh_addr;
	return read_bytes(fd, header.sh_offset, header.sh_size, section);
}

int cfi_section_read_eh_frame(int fd, const struct elf_file *file, struct cfi_section *ret)
{
	struct cfi_section section = {.machine = file->machine};
	int err = read_by_name(fd, file, ".eh_frame", &section);

	if (err == -ENOENT)
		err = read_by_header(fd, &file->layout, &section);
	if (!err)
		*ret = section;
	return err;
}

int cfi_section_read_debug_frame(int fd, const struct elf_file *file, struct cfi_section *ret)
{
	struct cfi_section section = {.machine = file->machine, .is_debug_frame = true};
	const int err = read_by_name(fd, file, ".debug_frame", &section);

	if (!err)
		*ret = section;
	return err;
}
