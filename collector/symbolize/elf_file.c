// SPDX-License-Identifier: Apache-2.0
/*
 * ELF by libelf, see elf_file.h. Read here:
 *
 *   Ehdr           e_ident, e_type, e_machine, section count (that of section 0 if e_shnum is 0)
 *   Phdr[]         PT_LOAD: where the file's bytes go; PT_NOTE: the build ID
 *   .symtab, .dynsym  Sym[] with sh_entsize of one Sym, names in the section sh_link, a STRTAB
 *
 * libelf reads by pread into memory of its own (ELF_C_READ) and checks sections against the file's
 * size, but it allocates by counts that the file gives; those are checked before it sees them.
 */
#include "symbolize/elf_file.h"

#include <assert.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SECTIONS	(256u << 10)
#define MAX_HEADERS	4096 /* program headers */
#define MAX_NOTES	16
#define MAX_NOTES_BYTES (64u << 10)
#define MAX_NOISE_BYTES 256 /* of a name that are looked at to rank it */

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

/* Section 0 holds the count that is too large for e_shnum. */
static int read_extended_count(int fd, bool is_64, uint64_t section_off, uint64_t *ret_count)
{
	Elf64_Shdr s64;
	Elf32_Shdr s32;
	void *const section = is_64 ? (void *)&s64 : (void *)&s32;
	const size_t bytes = is_64 ? sizeof(s64) : sizeof(s32);

	if (section_off > INT64_MAX ||
	    pread(fd, section, bytes, (off_t)section_off) != (ssize_t)bytes)
		return -ENOEXEC;
	*ret_count = is_64 ? s64.sh_size : s32.sh_size;
	return 0;
}

/* What libelf must not be asked to open. Mapped code is of this machine's byte order. */
static int check_header(int fd, uint16_t *ret_machine)
{
	union header header = {0};
	const ssize_t len = pread(fd, &header, sizeof(header), 0);
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
	type = header.e64.e_type; /* up to e_version both classes are alike */
	if (type != ET_EXEC && type != ET_DYN)
		return -ENOEXEC;
	*ret_machine = header.e64.e_machine;
	count = is_64 ? header.e64.e_shnum : header.e32.e_shnum;
	section_off = is_64 ? header.e64.e_shoff : header.e32.e_shoff;
	if (count == 0 && section_off != 0)
		err = read_extended_count(fd, is_64, section_off, &count);
	if (err)
		return err;
	return count > MAX_SECTIONS ? -EFBIG : 0;
}

/* A segment that wraps around the address space or the file is left out. */
static void add_segment(struct elf_layout *layout, const GElf_Phdr *header)
{
	const uint64_t memory =
		header->p_memsz > header->p_filesz ? header->p_memsz : header->p_filesz;

	if (layout->segment_count == ELF_FILE_MAX_SEGMENTS || memory == 0 ||
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

static void read_build_id(struct elf_file *file, const GElf_Phdr *header)
{
	const Elf_Type type = header->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
	size_t at = 0, name_at, desc_at;
	Elf_Data *data = NULL;
	GElf_Nhdr note;

	if (header->p_filesz <= MAX_NOTES_BYTES && header->p_offset <= INT64_MAX)
		data = elf_getdata_rawchunk(file->elf, (int64_t)header->p_offset, header->p_filesz,
					    type);
	if (!data)
		return;
	while ((at = gelf_getnote(data, at, &note, &name_at, &desc_at)) > 0) {
		const char *bytes = data->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp(bytes + name_at, "GNU", sizeof("GNU")) != 0)
			continue;
		if (note.n_descsz > ELF_FILE_MAX_BUILD_ID)
			return;
		memcpy(file->layout.build_id, bytes + desc_at, note.n_descsz);
		file->layout.build_id_len = note.n_descsz;
		return;
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
		else if (header.p_type == PT_NOTE && file->layout.build_id_len == 0 &&
			 notes++ < MAX_NOTES)
			read_build_id(file, &header);
	}
	return file->layout.segment_count > 0 ? 0 : -ENOEXEC;
}

int elf_file_open(int fd, struct elf_file *ret)
{
	struct elf_file file = {0};
	struct stat st;
	int err;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	err = check_header(fd, &file.machine);
	if (err)
		return err;
	elf_version(EV_CURRENT);
	file.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!file.elf)
		return elf_errno() == 0 ? -ENOMEM : -ENOEXEC;
	err = elf_kind(file.elf) == ELF_K_ELF ? read_layout(&file) : -ENOEXEC;
	if (err) {
		elf_file_close(&file);
		return err;
	}
	*ret = file;
	return 0;
}

void elf_file_close(struct elf_file *file)
{
	if (file->elf)
		elf_end(file->elf);
	*file = (struct elf_file){0};
}

/* One symbol table, its names, and the functions found so far. */
struct scan {
	const struct elf_file *file;
	Elf_Data *symbols;
	const char *strings;
	size_t strings_len; /* up to and with the last NUL: every text within is terminated */
	bool is_dynamic;
	struct elf_function *functions;
	size_t count, size;
};

static const struct elf_segment *find_code_segment(const struct elf_layout *layout, uint64_t addr)
{
	for (size_t i = 0; i < layout->segment_count; i++) {
		const struct elf_segment *segment = &layout->segments[i];

		if (segment->is_executable && addr >= segment->elf_addr &&
		    addr - segment->elf_addr < segment->mem_bytes)
			return segment;
	}
	return NULL;
}

static uint32_t clip(uint64_t value)
{
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* Bytes to the end of the symbol's section, 0 if that is no code or does not hold addr. */
static uint64_t find_section_room(const struct elf_file *file, const GElf_Sym *symbol,
				  uint64_t addr)
{
	GElf_Shdr header;

	if (symbol->st_shndx >= SHN_LORESERVE ||
	    !gelf_getshdr(elf_getscn(file->elf, symbol->st_shndx), &header) ||
	    !(header.sh_flags & SHF_EXECINSTR) || addr < header.sh_addr ||
	    addr - header.sh_addr >= header.sh_size)
		return 0;
	return header.sh_size - (addr - header.sh_addr);
}

/* Marks of the assembler: $x and $d of ARM and RISC-V, .L and .annobin locals. */
static bool is_mark(const char *name)
{
	return name[0] == '.' || (name[0] == '$' && name[1] != '\0' && strchr("adtx", name[1]) &&
				  (name[2] == '\0' || name[2] == '.' || name[2] == 'r'));
}

/* 0 to 15: clean names first, and of those the ones with fewer leading underscores. */
static uint32_t find_cleanness(const char *name)
{
	const size_t len = strnlen(name, MAX_NOISE_BYTES);
	size_t underscores = strspn(name, "_");

	if (name[0] == '_' && name[1] == 'Z')
		underscores = 0;
	if (underscores > 7)
		underscores = 7;
	return (memchr(name, '@', len) || memchr(name, '.', len) ? 0 : 8) +
	       (uint32_t)(7 - underscores);
}

/* A function before a label, with a size before without, global, weak, local, then by the name. */
static uint32_t find_rank(const GElf_Sym *symbol, const char *name)
{
	const unsigned type = GELF_ST_TYPE(symbol->st_info);
	const unsigned bind = GELF_ST_BIND(symbol->st_info);
	uint32_t rank = type == STT_NOTYPE ? 0 : 2;

	rank += symbol->st_size > 0;
	rank = rank * 3 + (bind == STB_LOCAL ? 0 : bind == STB_WEAK ? 1 : 2);
	return rank * 16 + find_cleanness(name);
}

static bool take_symbol(const struct scan *scan, const GElf_Sym *symbol, struct elf_function *ret)
{
	const unsigned type = GELF_ST_TYPE(symbol->st_info);
	const bool is_label = type == STT_NOTYPE;
	const struct elf_segment *segment;
	uint64_t addr = symbol->st_value, room, section_room;
	const char *name;

	if ((!is_label && type != STT_FUNC && type != STT_GNU_IFUNC) ||
	    symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
	    symbol->st_shndx == SHN_COMMON || symbol->st_name >= scan->strings_len)
		return false;
	name = scan->strings + symbol->st_name;
	if (name[0] == '\0' || name[0] == '@' || (is_label && is_mark(name)))
		return false;
	if (scan->file->machine == EM_ARM && !is_label)
		addr &= ~UINT64_C(1); /* the mark of Thumb code */
	segment = find_code_segment(&scan->file->layout, addr);
	if (!segment)
		return false;
	room = segment->mem_bytes - (addr - segment->elf_addr);
	section_room = find_section_room(scan->file, symbol, addr);
	if (is_label && symbol->st_size == 0 && (section_room == 0 || scan->is_dynamic))
		return false;
	if (section_room > 0 && section_room < room)
		room = section_room;
	*ret = (struct elf_function){
		.elf_addr = addr,
		.name = name,
		.size = clip(symbol->st_size < room ? symbol->st_size : room),
		.room = clip(room),
		.rank = find_rank(symbol, name),
		.is_label = is_label,
	};
	return true;
}

static int open_strings(struct scan *scan, Elf_Scn *section)
{
	GElf_Shdr header;
	Elf_Data *data;

	if (!section || !gelf_getshdr(section, &header) || header.sh_type != SHT_STRTAB ||
	    header.sh_flags & SHF_COMPRESSED)
		return -ENOEXEC;
	if (header.sh_size > ELF_FILE_MAX_STRINGS_BYTES)
		return -EFBIG;
	data = elf_getdata(section, NULL);
	if (!data || !data->d_buf)
		return -ENOEXEC;
	scan->strings = data->d_buf;
	scan->strings_len = data->d_size;
	while (scan->strings_len > 0 && scan->strings[scan->strings_len - 1] != '\0')
		scan->strings_len--;
	return 0;
}

static int reserve(struct scan *scan, size_t more)
{
	struct elf_function *bigger;

	if (more > ELF_FILE_MAX_SYMBOLS - scan->size)
		return -EFBIG;
	if (more == 0)
		return 0;
	bigger = realloc(scan->functions, (scan->size + more) * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	scan->functions = bigger;
	scan->size += more;
	return 0;
}

static int open_table(struct scan *scan, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf *elf = scan->file->elf;
	const size_t entry_bytes = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	int err;

	if (header->sh_entsize != entry_bytes || header->sh_flags & SHF_COMPRESSED)
		return -ENOEXEC;
	if (header->sh_size / entry_bytes > ELF_FILE_MAX_SYMBOLS)
		return -EFBIG;
	err = open_strings(scan, elf_getscn(elf, header->sh_link));
	if (err)
		return err;
	scan->symbols = elf_getdata(section, NULL);
	return scan->symbols && scan->symbols->d_buf ? 0 : -ENOEXEC;
}

static int scan_table(struct scan *scan, Elf_Scn *section, const GElf_Shdr *header)
{
	size_t count;
	GElf_Sym symbol;
	int err = open_table(scan, section, header);

	if (err)
		return err;
	count = scan->symbols->d_size / header->sh_entsize;
	err = reserve(scan, count);
	for (size_t i = 1; !err && i < count; i++) {
		assert(scan->count < scan->size);
		if (gelf_getsym(scan->symbols, (int)i, &symbol) &&
		    take_symbol(scan, &symbol, &scan->functions[scan->count]))
			scan->count++;
	}
	return err;
}

/* The first table of that type; a file without one is no error. */
static int scan_type(struct scan *scan, uint32_t type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	scan->is_dynamic = type == SHT_DYNSYM;
	while ((section = elf_nextscn(scan->file->elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == type)
			return scan_table(scan, section, &header);
	}
	return 0;
}

int elf_file_read_functions(struct elf_file *file, struct elf_function **ret, size_t *ret_count)
{
	struct scan scan = {.file = file};
	const int static_err = scan_type(&scan, SHT_SYMTAB);
	const int dynamic_err = scan_type(&scan, SHT_DYNSYM);

	if (scan.count == 0 && (static_err || dynamic_err)) {
		free(scan.functions);
		return static_err ? static_err : dynamic_err;
	}
	*ret = scan.functions;
	*ret_count = scan.count;
	return 0;
}
