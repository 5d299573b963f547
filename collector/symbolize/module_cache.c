// SPDX-License-Identifier: Apache-2.0
/* Symbol tables in the table cache, see module_cache.h and files/table_cache.h. */
#include "symbolize/module_cache.h"

static int load(int fd, const struct debug_place *place, void **ret)
{
	struct elf_symbols *table;
	const int err = elf_symbols_load(fd, place, &table);

	if (!err)
		*ret = table;
	return err;
}

static void free_table(void *table)
{
	elf_symbols_free(table);
}

static size_t bytes_of(const void *table)
{
	return elf_symbols_bytes(table);
}

static bool are_equal(const void *a, const void *b)
{
	return elf_symbols_equal(a, b);
}

static bool is_private(const void *table)
{
	return elf_symbols_is_private(table);
}

static const struct table_kind kind = {
	.load = load,
	.free = free_table,
	.bytes = bytes_of,
	.equal = are_equal,
	.is_private = is_private,
	.none_reason = "cannot be read",
	.large_reason = "symbols too large",
	.needs_place = true,
};

void module_cache_attach(struct table_cache *tables)
{
	table_cache_set_kind(tables, TABLE_SYMBOLS, &kind);
}

struct elf_symbols *module_cache_find(struct table_cache *tables, pid_t pid,
				      const struct mapping *mapping, const char **ret_reason)
{
	return table_cache_find(tables, TABLE_SYMBOLS, pid, mapping, ret_reason);
}
