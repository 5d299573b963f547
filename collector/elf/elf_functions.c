// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the functions of an ELF file, see elf_functions.h. A symbol table, .symtab or .dynsym, is a
 * section of
 *
 *   Sym[]  st_name in the section sh_link, a STRTAB; st_info type and binding; st_shndx section;
 *          st_value elf_addr; st_size, 0 for much assembler code
 *
 * libelf checks sections against the file's size; links, entry sizes, string offsets and counts are
 * checked here.
 */
#include "elf/elf_functions.h"

#include "base/array.h"
#include "elf/elf_section.h"

#include <assert.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NOISE_BYTES 256 /* bytes of a name that its rank depends on */

/* One symbol table, its names, and the functions found so far. */
struct scan {
	const struct elf_file *file;
	const struct elf_layout *layout; /* of the mapped file */
	Elf_Data *symbols;
	const char *strings;
	size_t strings_len; /* to the last NUL inclusive, so that every text is terminated */
	bool is_dynamic;
	struct elf_functions *functions;
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

/*
 * Bytes from addr to the end of the symbol's section; 0: the section is not code or does not hold
 * addr.
 */
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

/* Whether the name is the assembler's: $x and $d of ARM and RISC-V, .L and .annobin locals. */
static bool is_mark(const char *name)
{
	return name[0] == '.' || (name[0] == '$' && name[1] != '\0' && strchr("adtx", name[1]) &&
				  (name[2] == '\0' || name[2] == '.' || name[2] == 'r'));
}

/*
 * Returns 0 to 15. A name without '@' and '.' ranks higher, then a name with fewer leading
 * underscores.
 */
static uint32_t find_cleanness(const char *name)
{
	const size_t len = strnlen(name, MAX_NOISE_BYTES);
	uint32_t underscores = 0;

	while (underscores < 7 && name[underscores] == '_')
		underscores++;
	if (name[0] == '_' && name[1] == 'Z')
		underscores = 0;
	return (memchr(name, '@', len) || memchr(name, '.', len) ? 0 : 8) + (7 - underscores);
}

/*
 * Ranks a function before a label, then by: has a size, binding (global, weak, local), name. Of two
 * names of one standing, that of POSIX is better known than that of C11's threads.
 */
static uint32_t find_rank(const GElf_Sym *symbol, const char *name)
{
	const unsigned type = GELF_ST_TYPE(symbol->st_info);
	const unsigned bind = GELF_ST_BIND(symbol->st_info);
	uint32_t rank = type == STT_NOTYPE ? 0 : 2;

	rank += symbol->st_size > 0;
	rank = rank * 3 + (bind == STB_LOCAL ? 0 : bind == STB_WEAK ? 1 : 2);
	rank = rank * 16 + find_cleanness(name);
	return rank * 2 + (strncmp(name, "pthread_", strlen("pthread_")) == 0);
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
		addr &= ~UINT64_C(1); /* bit 0 marks Thumb code */
	segment = find_code_segment(scan->layout, addr);
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
	int err;

	if (!section || !gelf_getshdr(section, &header) || header.sh_type != SHT_STRTAB)
		return -ENOEXEC;
	err = elf_section_read(section, ELF_FILE_MAX_STRINGS_BYTES, &data);
	if (err)
		return err;
	scan->strings = data->d_buf;
	scan->strings_len = data->d_size;
	while (scan->strings_len > 0 && scan->strings[scan->strings_len - 1] != '\0')
		scan->strings_len--;
	return 0;
}

int elf_functions_reserve(struct elf_functions *functions, size_t more)
{
	if (more > ELF_FILE_MAX_SYMBOLS - functions->count)
		return -EFBIG;
	return ARRAY_RESERVE(functions->items, functions->size, functions->count + more);
}

void elf_functions_fini(struct elf_functions *functions)
{
	free(functions->items);
	*functions = (struct elf_functions){0};
}

static int open_table(struct scan *scan, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf *elf = scan->file->elf;
	const size_t entry_bytes = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	int err;

	if (header->sh_entsize != entry_bytes)
		return -ENOEXEC;
	err = open_strings(scan, elf_getscn(elf, header->sh_link));
	if (err)
		return err;
	return elf_section_read(section, ELF_FILE_MAX_SYMBOLS * entry_bytes, &scan->symbols);
}

static int scan_table(struct scan *scan, Elf_Scn *section, const GElf_Shdr *header)
{
	struct elf_functions *functions = scan->functions;
	size_t count;
	GElf_Sym symbol;
	int err = open_table(scan, section, header);

	if (err)
		return err;
	count = scan->symbols->d_size / header->sh_entsize;
	err = elf_functions_reserve(functions, count);
	for (size_t i = 1; !err && i < count; i++) {
		assert(functions->count < functions->size);
		if (gelf_getsym(scan->symbols, (int)i, &symbol) &&
		    take_symbol(scan, &symbol, &functions->items[functions->count]))
			functions->count++;
	}
	return err;
}

int elf_functions_add(struct elf_functions *functions, const struct elf_file *file,
		      const struct elf_layout *layout, uint32_t type)
{
	struct scan scan = {
		.file = file,
		.layout = layout,
		.is_dynamic = type == SHT_DYNSYM,
		.functions = functions,
	};
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == type)
			return scan_table(&scan, section, &header);
	}
	return 0;
}
