// SPDX-License-Identifier: Apache-2.0
/*
 * Reads an ELF file's headers with libelf, see elf_file.h:
 *
 *   Ehdr    e_ident, e_type, e_machine; the count of sections, in section 0 if e_shnum is 0
 *   Phdr[]  PT_LOAD: the segments; PT_NOTE: the build ID
 *   Shdr[]  SHT_NOTE: the build ID of a debug file; SHT_DYNAMIC: DT_SONAME, an offset in the string
 *           table of section sh_link
 *
 * libelf reads a file with pread into its own memory (ELF_C_READ), and an image where it lies, and
 * checks sections against the size. But libelf allocates memory by counts in the file, so these
 * counts are checked before libelf reads them.
 */
#include "elf/elf_file.h"

#include <ctype.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SECTIONS		 (256u << 10)
#define MAX_HEADERS		 4096 /* number of program headers */
#define MAX_NOTES		 16
#define MAX_NOTES_BYTES		 (64u << 10)
#define MAX_DYNAMIC_BYTES	 (64u << 10)
#define MAX_SONAME_STRINGS_BYTES (16u << 20) /* those of libjvm.so take 8 KiB */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_DATA ELFDATA2LSB
#else
#define NATIVE_DATA ELFDATA2MSB
#endif

union header {
	unsigned char ident[EI_NIDENT];
	Elf32_Ehdr e32;
	Elf64_Ehdr e64;
};

/* Where the file lies. */
struct place {
	int fd;
	const char *image; /* NULL: in the file */
	size_t len;	   /* of the image */
};

/* Returns how many bytes there were, at most len; -1: none. */
static ssize_t read_at(const struct place *place, void *ret, size_t len, uint64_t off)
{
	if (!place->image)
		return off > INT64_MAX ? -1 : pread(place->fd, ret, len, (off_t)off);
	if (off > place->len)
		return -1;
	if (len > place->len - off)
		len = place->len - off;
	memcpy(ret, place->image + off, len);
	return (ssize_t)len;
}

/* If the number of sections is too large for e_shnum, section 0 has the number. */
static int read_extended_count(const struct place *place, bool is_64, uint64_t section_off,
			       uint64_t *ret_count)
{
	Elf64_Shdr s64;
	Elf32_Shdr s32;
	void *const section = is_64 ? (void *)&s64 : (void *)&s32;
	const size_t bytes = is_64 ? sizeof(s64) : sizeof(s32);

	if (read_at(place, section, bytes, section_off) != (ssize_t)bytes)
		return -ENOEXEC;
	*ret_count = is_64 ? s64.sh_size : s32.sh_size;
	return 0;
}

/* Refuses files that libelf must not open. Mapped code has this machine's byte order. */
static int check_header(const struct place *place, uint16_t *ret_machine)
{
	union header header = {0};
	const ssize_t len = read_at(place, &header, sizeof(header), 0);
	const bool is_64 = header.ident[EI_CLASS] == ELFCLASS64;
	uint64_t section_off, count;
	uint16_t type;
	int err = 0;

	if (len < (ssize_t)(is_64 ? sizeof(header.e64) : sizeof(header.e32)))
		return -ENOEXEC;
	if (memcmp(header.ident, ELFMAG, SELFMAG) != 0 || header.ident[EI_DATA] != NATIVE_DATA)
		return -ENOEXEC;
	if (!is_64 && header.ident[EI_CLASS] != ELFCLASS32)
		return -ENOEXEC;
	type = header.e64.e_type; /* the classes differ only behind e_version */
	if (type != ET_EXEC && type != ET_DYN)
		return -ENOEXEC;
	*ret_machine = header.e64.e_machine;
	count = is_64 ? header.e64.e_shnum : header.e32.e_shnum;
	section_off = is_64 ? header.e64.e_shoff : header.e32.e_shoff;
	if (count == 0 && section_off != 0)
		err = read_extended_count(place, is_64, section_off, &count);
	if (err)
		return err;
	return count > MAX_SECTIONS ? -EFBIG : 0;
}

/* A segment that wraps around the address space or the file is left out. */
static void add_segment(struct elf_layout *layout, const GElf_Phdr *header)
{
	const uint64_t memory =
		header->p_memsz > header->p_filesz ? header->p_memsz : header->p_filesz;

	if (layout->segment_count == ELF_LAYOUT_MAX_SEGMENTS || memory == 0 ||
	    header->p_vaddr > UINT64_MAX - memory || header->p_offset > UINT64_MAX - memory)
		return;
	layout->segments[layout->segment_count++] = (struct elf_segment){
		.elf_addr = header->p_vaddr,
		.file_off = header->p_offset,
		.mem_bytes = memory,
		.file_bytes = header->p_filesz,
		.is_executable = (header->p_flags & PF_X) != 0,
	};
}

static void find_build_id(struct elf_file *file, Elf_Data *data)
{
	size_t at = 0, name_at, desc_at;
	GElf_Nhdr note;

	while ((at = gelf_getnote(data, at, &note, &name_at, &desc_at)) > 0) {
		const char *bytes = data->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp(bytes + name_at, "GNU", sizeof("GNU")) != 0)
			continue;
		if (note.n_descsz > ELF_LAYOUT_MAX_BUILD_ID)
			return;
		memcpy(file->layout.build_id, bytes + desc_at, note.n_descsz);
		file->layout.build_id_len = note.n_descsz;
		return;
	}
}

static void read_build_id(struct elf_file *file, const GElf_Phdr *header)
{
	const Elf_Type type = header->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
	Elf_Data *data = NULL;

	if (header->p_filesz <= MAX_NOTES_BYTES && header->p_offset <= INT64_MAX)
		data = elf_getdata_rawchunk(file->elf, (int64_t)header->p_offset, header->p_filesz,
					    type);
	if (data)
		find_build_id(file, data);
}

/* Program headers of a debug file may lead nowhere. The section headers are right. */
static void read_build_id_section(struct elf_file *file)
{
	unsigned notes = 0;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (notes < MAX_NOTES && file->layout.build_id_len == 0 &&
	       (section = elf_nextscn(file->elf, section))) {
		Elf_Data *data = NULL;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
			continue;
		notes++;
		if (header.sh_size <= MAX_NOTES_BYTES && !(header.sh_flags & SHF_COMPRESSED))
			data = elf_getdata(section, NULL);
		if (data && data->d_buf)
			find_build_id(file, data);
	}
}

static int read_layout(struct elf_file *file)
{
	unsigned notes = 0;
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(file->elf, &count) < 0)
		return -ENOEXEC;
	if (count > MAX_HEADERS)
		return -EFBIG;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(file->elf, (int)i, &header))
			return -ENOEXEC;
		if (header.p_type == PT_LOAD)
			add_segment(&file->layout, &header);
		else if (header.p_type == PT_GNU_EH_FRAME)
			file->layout.eh_frame_hdr =
				(struct elf_starts_place){.elf_addr = header.p_vaddr,
							  .file_off = header.p_offset,
							  .bytes = header.p_filesz};
		else if (header.p_type == PT_NOTE && file->layout.build_id_len == 0 &&
			 notes++ < MAX_NOTES)
			read_build_id(file, &header);
	}
	return 0;
}

/* libelf does not change an image, though elf_memory does not promise that. */
static int open_at(const struct place *place, bool is_mapped, struct elf_file *ret)
{
	struct elf_file file = {0};
	int err;

	err = check_header(place, &file.machine);
	if (err)
		return err;
	elf_version(EV_CURRENT);
	file.elf = place->image ? elf_memory((char *)place->image, place->len)
				: elf_begin(place->fd, ELF_C_READ, NULL);
	if (!file.elf)
		return elf_errno() == 0 ? -ENOMEM : -ENOEXEC;
	err = elf_kind(file.elf) == ELF_K_ELF ? read_layout(&file) : -ENOEXEC;
	if (!err && is_mapped && file.layout.segment_count == 0)
		err = -ENOEXEC;
	if (!err && file.layout.build_id_len == 0 && !is_mapped)
		read_build_id_section(&file);
	if (err) {
		elf_file_close(&file);
		return err;
	}
	*ret = file;
	return 0;
}

static int open_file(int fd, bool is_mapped, struct elf_file *ret)
{
	const struct place place = {.fd = fd};
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? open_at(&place, is_mapped, ret) : -EINVAL;
}

int elf_file_open(int fd, struct elf_file *ret)
{
	return open_file(fd, true, ret);
}

int elf_file_open_debug(int fd, struct elf_file *ret)
{
	return open_file(fd, false, ret);
}

int elf_file_open_image(const char *image, size_t len, struct elf_file *ret)
{
	const struct place place = {.fd = -1, .image = image, .len = len};

	return open_at(&place, false, ret);
}

void elf_file_close(struct elf_file *file)
{
	if (file->elf)
		elf_end(file->elf);
	*file = (struct elf_file){0};
}

/* The text of the first DT_SONAME in the section, or NULL. */
static const char *soname_in(struct elf_file *file, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Scn *strings = elf_getscn(file->elf, header->sh_link);
	GElf_Shdr strings_header;
	Elf_Data *data;
	GElf_Dyn entry;

	if (header->sh_size > MAX_DYNAMIC_BYTES || (header->sh_flags & SHF_COMPRESSED) ||
	    !strings || !gelf_getshdr(strings, &strings_header) ||
	    strings_header.sh_size > MAX_SONAME_STRINGS_BYTES ||
	    (strings_header.sh_flags & SHF_COMPRESSED))
		return NULL;
	data = elf_getdata(section, NULL);
	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		if (entry.d_tag == DT_SONAME)
			return elf_strptr(file->elf, header->sh_link, entry.d_un.d_val);
	}
	return NULL;
}

static bool could_be_name(const char *text)
{
	const size_t len = strlen(text);

	for (size_t i = 0; i < len; i++) {
		if (!isgraph((unsigned char)text[i]) || text[i] == '/' || text[i] == ';')
			return false;
	}
	return len > 0 && len < ELF_FILE_SONAME_BYTES;
}

void elf_file_read_soname(struct elf_file *file, char ret[ELF_FILE_SONAME_BYTES])
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	ret[0] = '\0';
	while ((section = elf_nextscn(file->elf, section))) {
		const char *soname = NULL;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC)
			continue;
		soname = soname_in(file, section, &header);
		if (soname && could_be_name(soname))
			strcpy(ret, soname);
		return;
	}
}
