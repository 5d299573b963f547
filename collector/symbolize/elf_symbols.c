// SPDX-License-Identifier: Apache-2.0
/*
 * An ELF file's functions compiled into one sorted array of 16 bytes each and one pool of names,
 * so that libelf's copy of the file can go. Names stay as the linker wrote them until somebody asks
 * for one: of a libjvm's 50,000 functions a profile shows a few hundred.
 */
#include "symbolize/elf_symbols.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/map64.h"
#include "base/serial.h"
#include "symbolize/demangle.h"
#include "elf/elf_file.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME_BYTES	    (16u << 10)
#define MAX_DEMANGLED_BYTES 4096	/* of one name; longer ones are of no use to a reader */
#define MAX_DEMANGLED_TOTAL (32u << 20) /* of one file, then names stay mangled */
#define MAX_NESTED	    32		/* functions between an address and the one that holds it */

struct entry {
	uint64_t elf_addr;
	uint32_t size;
	uint32_t name; /* in the pool */
};

struct elf_symbols {
	uint64_t serial;
	struct entry *entries; /* rising, one an address */
	size_t count;
	char *names;
	size_t names_bytes;
	struct elf_layout layout;
	struct elf_starts starts;
	struct map64 shown; /* index of an entry -> its text, once demangled */
	struct arena demangled;
};

/* By address, the best name first; ties by their place in the file, to be the same every time. */
static int compare(const void *left, const void *right)
{
	const struct elf_function *a = left, *b = right;

	if (a->elf_addr != b->elf_addr)
		return a->elf_addr < b->elf_addr ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

/*
 * Leaves one function an address, without labels inside of functions, and gives those without a
 * size all up to the next. Returns how many are left.
 */
static size_t select_functions(struct elf_function *functions, size_t count)
{
	uint64_t covered_end = 0;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct elf_function *function = &functions[i];

		if (kept > 0 && functions[kept - 1].elf_addr == function->elf_addr)
			continue;
		if (function->is_label && function->size == 0 && function->elf_addr < covered_end)
			continue;
		if (function->elf_addr + function->size > covered_end)
			covered_end = function->elf_addr + function->size;
		functions[kept++] = *function;
	}
	for (size_t i = 0; i < kept; i++) {
		struct elf_function *function = &functions[i];
		const uint64_t gap =
			i + 1 < kept ? function[1].elf_addr - function->elf_addr : UINT64_MAX;

		if (function->size == 0)
			function->size = gap < function->room ? (uint32_t)gap : function->room;
	}
	return kept;
}

/* Length without @VERSION, cut at what anybody would want to see. */
static size_t name_len(const char *name)
{
	const size_t len = strnlen(name, MAX_NAME_BYTES);
	const char *version = memchr(name, '@', len);

	return version ? (size_t)(version - name) : len;
}

/* Names that overlap in the file do not in the pool, hence the bound here too. */
static int copy_names(struct elf_symbols *symbols, const struct elf_function *functions)
{
	size_t bytes = 0, at = 0;

	for (size_t i = 0; i < symbols->count; i++) {
		bytes += name_len(functions[i].name) + 1;
		if (bytes > ELF_FILE_MAX_STRINGS_BYTES)
			return -EFBIG;
	}
	symbols->names = malloc(bytes);
	if (!symbols->names)
		return -ENOMEM;
	symbols->names_bytes = bytes;
	for (size_t i = 0; i < symbols->count; i++) {
		const size_t len = name_len(functions[i].name);

		memcpy(symbols->names + at, functions[i].name, len);
		symbols->names[at + len] = '\0';
		symbols->entries[i].name = (uint32_t)at;
		at += len + 1;
	}
	return 0;
}

static int compile(struct elf_symbols *symbols, struct elf_function *functions, size_t count)
{
	if (count == 0)
		return 0;
	qsort(functions, count, sizeof(*functions), compare);
	symbols->count = select_functions(functions, count);
	symbols->entries = malloc(symbols->count * sizeof(*symbols->entries));
	if (!symbols->entries)
		return -ENOMEM;
	for (size_t i = 0; i < symbols->count; i++)
		symbols->entries[i] = (struct entry){
			.elf_addr = functions[i].elf_addr,
			.size = functions[i].size,
		};
	return copy_names(symbols, functions);
}

static int load_from(struct elf_file *file, struct elf_symbols **ret)
{
	_cleanup_free_ struct elf_function *functions = NULL;
	struct elf_symbols *symbols;
	size_t count;
	int err = elf_file_read_functions(file, &functions, &count);

	if (err)
		return err;
	symbols = calloc(1, sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	symbols->serial = serial_next();
	symbols->layout = file->layout;
	err = compile(symbols, functions, count);
	if (err) {
		elf_symbols_free(symbols);
		return err;
	}
	*ret = symbols;
	return 0;
}

int elf_symbols_load(int fd, struct elf_symbols **ret)
{
	struct elf_file file;
	int err = elf_file_open(fd, &file);

	if (err)
		return err;
	err = load_from(&file, ret);
	/* Without it there is only less to say of code without symbols. */
	if (!err && elf_starts_load(fd, &file.layout.eh_frame_hdr, &(*ret)->starts) < 0)
		(*ret)->starts = (struct elf_starts){0};
	elf_file_close(&file);
	return err;
}

void elf_symbols_free(struct elf_symbols *symbols)
{
	if (!symbols)
		return;
	map64_fini(&symbols->shown);
	arena_fini(&symbols->demangled);
	elf_starts_fini(&symbols->starts);
	free(symbols->entries);
	free(symbols->names);
	free(symbols);
}

int elf_symbols_addr_of(const struct elf_symbols *symbols, uint64_t file_off,
			uint64_t *ret_elf_addr)
{
	return elf_layout_addr_of(&symbols->layout, file_off, ret_elf_addr);
}

/* The nearest function below may end before elf_addr, inside of a larger one that does not. */
static const struct entry *find_entry(const struct elf_symbols *symbols, uint64_t elf_addr)
{
	size_t low = 0, high = symbols->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (symbols->entries[middle].elf_addr <= elf_addr)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && low - i < MAX_NESTED; i--) {
		const struct entry *entry = &symbols->entries[i - 1];

		if (elf_addr - entry->elf_addr < entry->size)
			return entry;
	}
	return NULL;
}

/* Out of memory shows the linker's name. */
static const char *show(struct elf_symbols *symbols, const struct entry *entry)
{
	const char *name = symbols->names + entry->name, *text = name;
	const uint64_t key = (uint64_t)(entry - symbols->entries);
	char buf[MAX_DEMANGLED_BYTES];
	const char *known;
	size_t len;

	if (!demangle_is_candidate(name))
		return name;
	known = map64_find(&symbols->shown, key);
	if (known)
		return known;
	if (symbols->demangled.total_bytes >= MAX_DEMANGLED_TOTAL)
		return name;
	len = demangle_name(name, buf, sizeof(buf));
	if (len > 0)
		text = arena_copy(&symbols->demangled, buf, len);
	if (!text)
		return name;
	/* Not remembered is only slower the next time, up to the bound above. */
	(void)map64_put(&symbols->shown, key, (void *)text);
	return text;
}

const char *elf_symbols_find(struct elf_symbols *symbols, uint64_t elf_addr, uint64_t *ret_offset)
{
	const struct entry *entry = find_entry(symbols, elf_addr);

	if (!entry)
		return NULL;
	*ret_offset = elf_addr - entry->elf_addr;
	return show(symbols, entry);
}

int elf_symbols_find_start(const struct elf_symbols *symbols, uint64_t elf_addr,
			   uint64_t *ret_elf_addr)
{
	return elf_starts_find(&symbols->starts, elf_addr, ret_elf_addr);
}

uint64_t elf_symbols_serial(const struct elf_symbols *symbols)
{
	return symbols->serial;
}

const unsigned char *elf_symbols_build_id(const struct elf_symbols *symbols, size_t *ret_len)
{
	*ret_len = symbols->layout.build_id_len;
	return symbols->layout.build_id;
}

bool elf_symbols_equal(const struct elf_symbols *a, const struct elf_symbols *b)
{
	if (a->count != b->count || a->names_bytes != b->names_bytes ||
	    a->starts.count != b->starts.count || !elf_layout_equal(&a->layout, &b->layout))
		return false;
	if (a->starts.count > 0 && memcmp(a->starts.offsets, b->starts.offsets,
					  a->starts.count * sizeof(*a->starts.offsets)) != 0)
		return false;
	return a->count == 0 ||
	       (memcmp(a->entries, b->entries, a->count * sizeof(*a->entries)) == 0 &&
		memcmp(a->names, b->names, a->names_bytes) == 0);
}

size_t elf_symbols_count(const struct elf_symbols *symbols)
{
	return symbols->count;
}

size_t elf_symbols_bytes(const struct elf_symbols *symbols)
{
	return sizeof(*symbols) + symbols->count * sizeof(*symbols->entries) +
	       symbols->names_bytes + symbols->starts.count * sizeof(*symbols->starts.offsets) +
	       symbols->shown.size * sizeof(*symbols->shown.slots) + symbols->demangled.total_bytes;
}
