// SPDX-License-Identifier: Apache-2.0
/*
 * Names entries of procedure linkage tables, see elf_functions.h. An entry jumps to the address in
 * a slot of the GOT, and the slot's relocation has the function's name:
 *
 *   x86_64   [endbr64] [push, mov] [bnd] jmp *slot(%rip)       ff 25 and 4 bytes
 *            [endbr64] push $n; [bnd] jmp first entry          68 and 4 bytes: the nth JUMP_SLOT
 *   aarch64  [bti c] adrp x16, page; ldr x17, [x16, #rest]; ...
 *
 * All linkers write .plt, .plt.sec (IBT), .plt.got and .iplt so. An entry that jumps elsewhere,
 * such as the first entry, gets no name.
 */
#include "base/array.h"
#include "base/unaligned.h"
#include "elf/elf_functions.h"
#include "elf/elf_section.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLT_BYTES	(32u << 20)
#define MAX_RELOCATIONS (4u << 20)
#define ENTRY_BYTES	16

struct slot {
	uint64_t elf_addr; /* address of the slot in the GOT */
	const char *name;
};

/* Slots by address; slots of .rela.plt also by number. */
struct slots {
	const struct elf_functions *functions; /* sorted by address */
	struct slot *items;
	size_t count, size;
	const char **numbered;
	size_t numbered_count;
};

/* One PLT section. */
struct plt {
	const unsigned char *bytes;
	size_t len;
	uint64_t elf_addr;
	size_t entry_bytes;
};

static int compare_functions(const void *left, const void *right)
{
	const struct elf_function *a = left, *b = right;

	if (a->elf_addr != b->elf_addr)
		return a->elf_addr < b->elf_addr ? -1 : 1;
	return a->rank > b->rank ? -1 : a->rank < b->rank;
}

static int compare_slots(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return a->elf_addr < b->elf_addr ? -1 : a->elf_addr > b->elf_addr;
}

/* The best name of the function that starts at elf_addr. */
static const char *find_name(const struct elf_functions *functions, uint64_t elf_addr)
{
	const size_t low =
		ARRAY_COUNT_BELOW(0, functions->count, i, functions->items[i].elf_addr < elf_addr);

	return low < functions->count && functions->items[low].elf_addr == elf_addr
		       ? functions->items[low].name
		       : NULL;
}

static bool is_resolver(uint16_t machine, uint64_t type)
{
	return machine == EM_AARCH64 ? type == R_AARCH64_IRELATIVE : type == R_X86_64_IRELATIVE;
}

static bool is_jump_slot(uint16_t machine, uint64_t type)
{
	return machine == EM_AARCH64 ? type == R_AARCH64_JUMP_SLOT : type == R_X86_64_JUMP_SLOT;
}

static bool is_data_slot(uint16_t machine, uint64_t type)
{
	return machine == EM_AARCH64 ? type == R_AARCH64_GLOB_DAT : type == R_X86_64_GLOB_DAT;
}

static const char *name_symbol(const struct elf_file *file, const GElf_Shdr *table,
			       Elf_Data *symbols, size_t index)
{
	GElf_Sym symbol;
	const char *name;

	if (!symbols || index > INT32_MAX || !gelf_getsym(symbols, (int)index, &symbol))
		return NULL;
	name = elf_strptr(file->elf, table->sh_link, symbol.st_name);
	return name && name[0] ? name : NULL;
}

static int grow(struct slots *slots, size_t more)
{
	struct slot *bigger;
	const char **numbered;

	if (more > MAX_RELOCATIONS - slots->size)
		return -EFBIG;
	bigger = realloc(slots->items, (slots->size + more) * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	slots->items = bigger;
	numbered = realloc(slots->numbered, (slots->size + more) * sizeof(*numbered));
	if (!numbered)
		return -ENOMEM;
	slots->numbered = numbered;
	slots->size += more;
	return 0;
}

static void add_slot(struct slots *slots, const struct elf_file *file, const GElf_Rela *relocation,
		     const char *name)
{
	const uint64_t type = GELF_R_TYPE(relocation->r_info);

	if (is_resolver(file->machine, type))
		name = find_name(slots->functions, (uint64_t)relocation->r_addend);
	else if (!is_jump_slot(file->machine, type) && !is_data_slot(file->machine, type))
		return;
	if (is_jump_slot(file->machine, type))
		slots->numbered[slots->numbered_count++] = name;
	if (name)
		slots->items[slots->count++] =
			(struct slot){.elf_addr = relocation->r_offset, .name = name};
}

/*
 * The symbols to which a section of relocations refers. *ret_table is the symbols' section header.
 */
static Elf_Data *open_symbols(const struct elf_file *file, const GElf_Shdr *relocations,
			      GElf_Shdr *ret_table)
{
	Elf_Scn *section = elf_getscn(file->elf, relocations->sh_link);
	GElf_Shdr strings;
	Elf_Data *symbols;

	/* sh_link is 0 if all relocations are resolvers, as in static programs. */
	if (relocations->sh_link == 0 || !section || !gelf_getshdr(section, ret_table) ||
	    (ret_table->sh_type != SHT_DYNSYM && ret_table->sh_type != SHT_SYMTAB) ||
	    !gelf_getshdr(elf_getscn(file->elf, ret_table->sh_link), &strings) ||
	    strings.sh_type != SHT_STRTAB || strings.sh_size > ELF_FILE_MAX_STRINGS_BYTES ||
	    strings.sh_flags & SHF_COMPRESSED ||
	    elf_section_read(section, ELF_FILE_MAX_SYMBOLS * sizeof(Elf64_Sym), &symbols) < 0)
		return NULL;
	return symbols;
}

static int read_slots(struct slots *slots, const struct elf_file *file, Elf_Scn *section,
		      const GElf_Shdr *header)
{
	const size_t entry_bytes = gelf_fsize(file->elf, ELF_T_RELA, 1, EV_CURRENT);
	GElf_Shdr table;
	Elf_Data *symbols = open_symbols(file, header, &table), *data;
	GElf_Rela relocation;
	size_t count;
	int err;

	if (header->sh_entsize != entry_bytes)
		return -ENOEXEC;
	err = elf_section_read(section, MAX_RELOCATIONS * entry_bytes, &data);
	if (err)
		return err;
	count = data->d_size / entry_bytes;
	err = grow(slots, count);
	for (size_t i = 0; !err && i < count; i++) {
		if (gelf_getrela(data, (int)i, &relocation))
			add_slot(slots, file, &relocation,
				 name_symbol(file, &table, symbols, GELF_R_SYM(relocation.r_info)));
	}
	return err;
}

/* Reads all slots. A broken section of relocations is left out. */
static int read_all_slots(struct slots *slots, const struct elf_file *file)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    header.sh_flags & SHF_ALLOC &&
		    read_slots(slots, file, section, &header) == -ENOMEM)
			return -ENOMEM;
	}
	if (slots->count > 0)
		qsort(slots->items, slots->count, sizeof(*slots->items), compare_slots);
	return 0;
}

static const char *find_slot(const struct slots *slots, uint64_t elf_addr)
{
	const struct slot key = {.elf_addr = elf_addr}, *found = NULL;

	if (slots->count > 0)
		found = bsearch(&key, slots->items, slots->count, sizeof(key), compare_slots);
	return found ? found->name : NULL;
}

/*
 * The name of the x86_64 entry at off: from the first jump whose slot is known, else from the slot
 * number that the entry pushes.
 */
static const char *name_x86_64(const struct slots *slots, const struct plt *plt, size_t off)
{
	const size_t end = off + plt->entry_bytes <= plt->len ? off + plt->entry_bytes : plt->len;
	size_t at = off;

	for (size_t i = off; i + 6 <= end; i++) {
		const char *name;

		if (plt->bytes[i] != 0xff || plt->bytes[i + 1] != 0x25)
			continue;
		name = find_slot(slots,
				 plt->elf_addr + i + 6 +
					 (uint64_t)(int32_t)unaligned_u32(plt->bytes, i + 2));
		if (name)
			return name;
	}
	if (at + 4 <= end && memcmp(plt->bytes + at, "\xf3\x0f\x1e\xfa", 4) == 0)
		at += 4;
	if (at + 10 <= end && plt->bytes[at] == 0x68 &&
	    (plt->bytes[at + 5] == 0xe9 ||
	     (plt->bytes[at + 5] == 0xf2 && plt->bytes[at + 6] == 0xe9)) &&
	    unaligned_u32(plt->bytes, at + 1) < slots->numbered_count)
		return slots->numbered[unaligned_u32(plt->bytes, at + 1)];
	return NULL;
}

/* The name of the aarch64 entry with adrp x16 and ldr x17, [x16] at off. */
static const char *name_aarch64(const struct slots *slots, const struct plt *plt, size_t off)
{
	uint32_t adrp, ldr;
	uint64_t page;

	if (off + 8 > plt->len)
		return NULL;
	adrp = unaligned_u32(plt->bytes, off);
	ldr = unaligned_u32(plt->bytes, off + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return NULL;
	page = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	if (page & 1u << 20)
		page |= ~UINT64_C(0x1fffff);
	page = ((plt->elf_addr + off) & ~UINT64_C(0xfff)) + (page << 12);
	return find_slot(slots, page + (ldr >> 10 & 0xfff) * 8);
}

static void add_entry(struct elf_functions *functions, const struct plt *plt, size_t off,
		      const char *name)
{
	const size_t room = plt->len - off;
	const uint32_t bytes = (uint32_t)(room < plt->entry_bytes ? room : plt->entry_bytes);

	functions->items[functions->count++] = (struct elf_function){
		.elf_addr = plt->elf_addr + off,
		.name = name,
		.size = bytes,
		.room = bytes,
		.rank = 0,
		.is_plt = true,
	};
}

/*
 * The instructions of aarch64 show where an entry is. Its length depends on what guards the entry.
 */
static void add_aarch64(struct elf_functions *functions, const struct slots *slots,
			const struct plt *plt)
{
	for (size_t off = 0; off + 8 <= plt->len; off += 4) {
		const char *name = name_aarch64(slots, plt, off);
		const bool is_guarded =
			off >= 4 && unaligned_u32(plt->bytes, off - 4) == 0xd503245f; /* bti c */

		if (name)
			add_entry(functions, plt, is_guarded ? off - 4 : off, name);
	}
}

static int add_section(struct elf_functions *functions, const struct slots *slots,
		       const struct plt *plt, uint16_t machine)
{
	/* An entry of aarch64 takes at least 16 bytes, an entry of x86_64's .plt.got takes 8. */
	const int err = elf_functions_reserve(functions, plt->len / 8 + 1);

	if (err)
		return err;
	if (machine == EM_AARCH64) {
		add_aarch64(functions, slots, plt);
		return 0;
	}
	for (size_t off = 0; off < plt->len; off += plt->entry_bytes) {
		const char *name = name_x86_64(slots, plt, off);

		if (name)
			add_entry(functions, plt, off, name);
	}
	return 0;
}

static bool open_plt(const struct elf_file *file, const char *name, struct plt *ret)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section_find(file, name, &header);
	Elf_Data *data;

	if (!section || !(header.sh_flags & SHF_EXECINSTR) ||
	    elf_section_read(section, MAX_PLT_BYTES, &data) < 0)
		return false;
	*ret = (struct plt){
		.bytes = data->d_buf,
		.len = data->d_size,
		.elf_addr = header.sh_addr,
		.entry_bytes = header.sh_entsize == 8 ? 8 : ENTRY_BYTES,
	};
	if (file->machine == EM_AARCH64 && header.sh_entsize == 24)
		ret->entry_bytes = 24;
	return true;
}

int elf_functions_add_plt(struct elf_functions *functions, const struct elf_file *file)
{
	static const char *const names[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	struct slots slots = {.functions = functions};
	struct plt plt;
	int err;

	if (file->machine != EM_X86_64 && file->machine != EM_AARCH64)
		return 0;
	if (functions->count > 0)
		qsort(functions->items, functions->count, sizeof(*functions->items),
		      compare_functions);
	err = read_all_slots(&slots, file);
	for (size_t i = 0; !err && i < sizeof(names) / sizeof(names[0]); i++) {
		if (open_plt(file, names[i], &plt))
			err = add_section(functions, &slots, &plt, file->machine);
	}
	free(slots.items);
	free(slots.numbered);
	return err;
}
