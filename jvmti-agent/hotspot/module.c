// SPDX-License-Identifier: Apache-2.0
/*
 * Looks up exported symbols of an object that the dynamic linker has loaded.
 *
 * PT_DYNAMIC is an array of {tag, value} up to DT_NULL. Wanted from it: DT_STRTAB and DT_STRSZ, the
 * names; DT_SYMTAB, Elf64_Sym of 24 bytes; and one of
 *   DT_GNU_HASH  u32 n_buckets, first_symbol, n_bloom_words, shift; bloom words of pointer size;
 *                u32 bucket[n_buckets], the first symbol of each chain; then one u32 a symbol from
 *                first_symbol on: its hash, with bit 0 set on the last of a chain
 *   DT_HASH      u32 n_buckets, n_chain, bucket[n_buckets], chain[n_chain]
 * glibc has already added the base to these addresses in memory, musl has not.
 */
#include "hotspot/module.h"

#include <string.h>

struct dynamic {
	const char *names;
	size_t names_len;
	const ElfW(Sym) * symbols;
	const uint32_t *gnu_hash;
	const uint32_t *hash;
};

bool module_holds(const struct module *module, const void *addr, size_t len, uint32_t access)
{
	const uintptr_t p = (uintptr_t)addr;
	bool held = false;

	for (size_t i = 0; i < module->n_phdr; i++) {
		const ElfW(Phdr) *ph = &module->phdr[i];
		const uintptr_t begin = module->base + ph->p_vaddr;

		if (p < begin || p - begin > ph->p_memsz || len > ph->p_memsz - (p - begin))
			continue;
		if (ph->p_type == PT_LOAD && (ph->p_flags & access) == access)
			held = true;
		if (ph->p_type == PT_GNU_RELRO && (access & PF_W))
			return false;
	}
	return held;
}

struct search {
	const void *addr;
	struct module *ret;
};

static int search_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct search *search = arg;
	const struct module module = {
		.base = info->dlpi_addr, .phdr = info->dlpi_phdr, .n_phdr = info->dlpi_phnum};

	(void)size;
	if (!module_holds(&module, search->addr, 1, 0))
		return 0;
	*search->ret = module;
	return 1;
}

bool module_find(const void *addr, struct module *ret)
{
	struct search search = {.addr = addr, .ret = ret};

	return dl_iterate_phdr(search_object, &search) == 1;
}

/* The address in a DT_ entry. The base is added if the dynamic linker has not added it. */
static const void *dynamic_address(const struct module *module, uintptr_t value)
{
	if (!module_holds(module, (const void *)value, 1, PF_R))
		value += module->base;
	return module_holds(module, (const void *)value, 1, PF_R) ? (const void *)value : NULL;
}

static bool read_dynamic(const struct module *module, struct dynamic *ret)
{
	const ElfW(Phdr) *ph = module->phdr;
	const ElfW(Dyn) *dyn = NULL;
	size_t left = 0;

	for (size_t i = 0; i < module->n_phdr; i++) {
		if (ph[i].p_type == PT_DYNAMIC) {
			dyn = (const void *)(module->base + ph[i].p_vaddr);
			left = ph[i].p_memsz / sizeof(*dyn);
		}
	}
	if (!dyn || !module_holds(module, dyn, left * sizeof(*dyn), PF_R))
		return false;
	*ret = (struct dynamic){0};
	for (; left > 0 && dyn->d_tag != DT_NULL; dyn++, left--) {
		if (dyn->d_tag == DT_STRTAB)
			ret->names = dynamic_address(module, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_STRSZ)
			ret->names_len = dyn->d_un.d_val;
		else if (dyn->d_tag == DT_SYMTAB)
			ret->symbols = dynamic_address(module, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_GNU_HASH)
			ret->gnu_hash = dynamic_address(module, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_HASH)
			ret->hash = dynamic_address(module, dyn->d_un.d_ptr);
	}
	return ret->names && ret->symbols && ret->names_len > 0 &&
	       module_holds(module, ret->names, ret->names_len, PF_R);
}

/* The symbol at the index if it is defined and has the name, or NULL. */
static const ElfW(Sym) * match(const struct module *module, const struct dynamic *dynamic,
			       uint32_t index, const char *name)
{
	const ElfW(Sym) *sym = dynamic->symbols + index;
	const size_t name_len = strlen(name) + 1;

	if (!module_holds(module, sym, sizeof(*sym), PF_R) || sym->st_shndx == SHN_UNDEF)
		return NULL;
	if (sym->st_name >= dynamic->names_len || name_len > dynamic->names_len - sym->st_name)
		return NULL;
	return memcmp(dynamic->names + sym->st_name, name, name_len) == 0 ? sym : NULL;
}

static const ElfW(Sym) *
	find_gnu(const struct module *module, const struct dynamic *dynamic, const char *name)
{
	const uint32_t *table = dynamic->gnu_hash;
	const uint32_t *buckets, *chain;
	uint32_t hash = 5381, index;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (uint8_t)*c;
	if (!module_holds(module, table, 16, PF_R) || table[0] == 0)
		return NULL;
	buckets = table + 4 + (size_t)table[2] * (sizeof(ElfW(Addr)) / 4);
	if (!module_holds(module, buckets, (size_t)table[0] * 4, PF_R))
		return NULL;
	index = buckets[hash % table[0]];
	if (index < table[1])
		return NULL;
	for (chain = buckets + table[0] + (index - table[1]);; chain++, index++) {
		const ElfW(Sym) *sym = NULL;

		if (!module_holds(module, chain, 4, PF_R))
			return NULL;
		if ((*chain | 1) == (hash | 1))
			sym = match(module, dynamic, index, name);
		if (sym || (*chain & 1))
			return sym;
	}
}

static const ElfW(Sym) *
	find_sysv(const struct module *module, const struct dynamic *dynamic, const char *name)
{
	const uint32_t *table = dynamic->hash;
	uint32_t hash = 0, index;

	for (const char *c = name; *c; c++) {
		hash = (hash << 4) + (uint8_t)*c;
		hash ^= (hash >> 24) & 0xf0;
		hash &= 0x0fffffff;
	}
	if (!module_holds(module, table, 8, PF_R) || table[0] == 0 ||
	    !module_holds(module, table, 8 + ((size_t)table[0] + table[1]) * 4, PF_R))
		return NULL;
	index = table[2 + hash % table[0]];
	for (uint32_t steps = 0; index != 0 && index < table[1] && steps < table[1]; steps++) {
		const ElfW(Sym) *sym = match(module, dynamic, index, name);

		if (sym)
			return sym;
		index = table[2 + table[0] + index];
	}
	return NULL;
}

const void *module_find_symbol(const struct module *module, const char *name, size_t len)
{
	const ElfW(Sym) *sym = NULL;
	struct dynamic dynamic;
	const void *addr;

	if (!read_dynamic(module, &dynamic))
		return NULL;
	if (dynamic.gnu_hash)
		sym = find_gnu(module, &dynamic, name);
	else if (dynamic.hash)
		sym = find_sysv(module, &dynamic, name);
	if (!sym || ELF64_ST_TYPE(sym->st_info) == STT_TLS)
		return NULL;
	addr = (const void *)(module->base + sym->st_value);
	return module_holds(module, addr, len, PF_R) ? addr : NULL;
}
