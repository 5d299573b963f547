// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the dynamic symbols of a library that is mapped, see vm_image.h:
 *
 *   ELF header -> program headers: the segments, and PT_DYNAMIC
 *   dynamic section: DT_SYMTAB, DT_STRTAB, DT_STRSZ
 *   symbols of 24 bytes from DT_SYMTAB to DT_STRTAB, which linkers put behind them
 *
 * glibc adds the library's place to addresses in the dynamic section, musl does not.
 */
#include "vm/vm_image.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define PAGE_BYTES	 4096
#define PAGES_BELOW	 64 /* that a linker may leave between parts of a file, or about so */
#define MAX_PROGRAM	 64
#define MAX_DYNAMIC	 256
#define MAX_SYMBOLS	 65536
#define MAX_NAME_BYTES	 64
#define MAX_IMAGE_BYTES	 (UINT64_C(1) << 32)
#define SYMBOLS_AT_ONCE	 128
#define MAX_STRING_BYTES (UINT32_C(64) << 20)

struct image {
	uint64_t bias; /* addr minus elf_addr */
	uint64_t dynamic, symbols, strings, string_bytes;
	struct vm_span variables;
};

static bool is_header(const Elf64_Ehdr *header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_type == ET_DYN && header->e_phentsize == sizeof(Elf64_Phdr) &&
	       header->e_phnum > 0 && header->e_phnum <= MAX_PROGRAM &&
	       header->e_phoff < PAGE_BYTES;
}

/*
 * Finds the header: as far below the mapping as the mapping is behind the file's beginning, or some
 * pages lower, where a linker has put the parts further apart in memory than in the file.
 */
static int find_header(struct vm_memory *memory, const struct vm_image_mapping *mapping,
		       Elf64_Ehdr *ret, uint64_t *ret_at)
{
	uint64_t at = mapping->start - mapping->file_off;
	int err = -ENOEXEC;

	if (mapping->file_off > mapping->start || at % PAGE_BYTES != 0)
		return -ENOEXEC;
	for (int i = 0; i < PAGES_BELOW && at > PAGE_BYTES; i++, at -= PAGE_BYTES) {
		err = vm_memory_get(memory, at, ret, sizeof(*ret));
		if (err && err != -EFAULT)
			return err;
		*ret_at = at;
		if (!err && is_header(ret))
			return 0;
	}
	return -ENOEXEC;
}

/* Whether the segment is what the mapping shows, given that the file is at bias. */
static bool is_segment_of(const Elf64_Phdr *segment, const struct vm_image_mapping *mapping,
			  uint64_t bias)
{
	return segment->p_type == PT_LOAD && segment->p_offset <= mapping->file_off &&
	       mapping->file_off - segment->p_offset < segment->p_memsz &&
	       bias + segment->p_vaddr + (mapping->file_off - segment->p_offset) == mapping->start;
}

/* Some loaders map a segment from the page on in which it begins. */
static bool holds_mapping(const Elf64_Phdr *segment, const struct vm_image_mapping *mapping,
			  uint64_t bias)
{
	Elf64_Phdr whole = *segment;
	const uint64_t in_page = segment->p_offset % PAGE_BYTES;

	if (in_page > segment->p_vaddr)
		return false;
	whole.p_offset -= in_page;
	whole.p_vaddr -= in_page;
	whole.p_memsz += in_page;
	return is_segment_of(&whole, mapping, bias);
}

/* Of several parts the last one counts, in which linkers put what begins as zeros. */
static void set_variables(const Elf64_Phdr *segment, struct image *image)
{
	const uint64_t start = (image->bias + segment->p_vaddr + 7) / 8 * 8;

	if (segment->p_memsz <= MAX_IMAGE_BYTES)
		image->variables = (struct vm_span){start, start + segment->p_memsz / 8 * 8};
}

static int read_program(struct vm_memory *memory, const struct vm_image_mapping *mapping,
			struct image *ret)
{
	Elf64_Phdr program[MAX_PROGRAM];
	Elf64_Ehdr header;
	bool is_mapping = false, has_first = false;
	uint64_t at;
	int err = find_header(memory, mapping, &header, &at);

	if (!err)
		err = vm_memory_get(memory, at + header.e_phoff, program,
				    header.e_phnum * sizeof(*program));
	for (int i = 0; !err && i < header.e_phnum; i++) {
		if (program[i].p_type != PT_LOAD || program[i].p_offset != 0)
			continue;
		ret->bias = at - program[i].p_vaddr;
		has_first = true;
	}
	for (int i = 0; !err && has_first && i < header.e_phnum; i++) {
		is_mapping |= holds_mapping(&program[i], mapping, ret->bias);
		if (program[i].p_type == PT_DYNAMIC)
			ret->dynamic = ret->bias + program[i].p_vaddr;
		if (program[i].p_type == PT_LOAD && (program[i].p_flags & PF_W))
			set_variables(&program[i], ret);
	}
	if (!err && !(is_mapping && ret->dynamic))
		err = -ENOEXEC;
	return err;
}

/* An address of the dynamic section, which the loader may have changed to one in memory. */
static uint64_t place_of(const struct image *image, uint64_t said)
{
	return said < image->bias ? image->bias + said : said;
}

static bool is_near(const struct image *image, uint64_t addr)
{
	return addr >= image->bias && addr - image->bias < MAX_IMAGE_BYTES;
}

static int read_dynamic(struct vm_memory *memory, struct image *image)
{
	Elf64_Dyn entry;
	int err = 0;

	for (int i = 0; !err && i < MAX_DYNAMIC; i++) {
		err = vm_memory_get_kept(memory, image->dynamic + (uint64_t)i * sizeof(entry),
					 &entry, sizeof(entry));
		if (err || entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_SYMTAB)
			image->symbols = place_of(image, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_STRTAB)
			image->strings = place_of(image, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_STRSZ)
			image->string_bytes = entry.d_un.d_val;
	}
	if (err)
		return err;
	return image->symbols && is_near(image, image->symbols) && is_near(image, image->strings) &&
			       image->string_bytes > 0 && image->string_bytes <= MAX_STRING_BYTES
		       ? 0
		       : -ENOEXEC;
}

static size_t count_symbols(const struct image *image)
{
	uint64_t n;

	if (image->strings <= image->symbols)
		return MAX_SYMBOLS;
	n = (image->strings - image->symbols) / sizeof(Elf64_Sym);
	return n < MAX_SYMBOLS ? (size_t)n : MAX_SYMBOLS;
}

/* Whether the symbol is one of those that are wanted. Returns whether it is a new one. */
static bool take_symbol(struct vm_memory *memory, const struct image *image, const Elf64_Sym *from,
			struct vm_symbol *symbols, size_t n)
{
	char name[MAX_NAME_BYTES];

	if (from->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(from->st_info) != STT_OBJECT ||
	    from->st_name >= image->string_bytes ||
	    vm_memory_text(memory, image->strings + from->st_name, name, sizeof(name)) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (symbols[i].addr || strcmp(symbols[i].name, name) != 0)
			continue;
		symbols[i].addr = image->bias + from->st_value;
		return true;
	}
	return false;
}

static int read_symbols(struct vm_memory *memory, const struct image *image,
			struct vm_symbol *symbols, size_t n)
{
	const size_t count = count_symbols(image);
	Elf64_Sym some[SYMBOLS_AT_ONCE];
	size_t left = n;

	for (size_t at = 0; at < count && left > 0; at += SYMBOLS_AT_ONCE) {
		const size_t part = count - at < SYMBOLS_AT_ONCE ? count - at : SYMBOLS_AT_ONCE;
		const int err = vm_memory_get(memory, image->symbols + at * sizeof(*some), some,
					      part * sizeof(*some));

		if (err)
			return err == -EFAULT && left < n ? 0 : err;
		for (size_t i = 0; i < part && !memory->err; i++)
			left -= take_symbol(memory, image, &some[i], symbols, n);
		if (memory->err)
			return memory->err;
	}
	return 0;
}

int vm_image_variables(struct vm_memory *memory, const struct vm_image_mapping *mapping,
		       struct vm_span *ret)
{
	struct image image = {0};
	const int err = read_program(memory, mapping, &image);

	if (!err)
		*ret = image.variables;
	return err;
}

int vm_image_find(struct vm_memory *memory, const struct vm_image_mapping *mapping,
		  struct vm_symbol *symbols, size_t n)
{
	struct image image = {0};
	int err;

	for (size_t i = 0; i < n; i++)
		symbols[i].addr = 0;
	err = read_program(memory, mapping, &image);
	if (!err)
		err = read_dynamic(memory, &image);
	if (!err)
		err = read_symbols(memory, &image, symbols, n);
	return err;
}
