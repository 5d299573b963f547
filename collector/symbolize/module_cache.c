// SPDX-License-Identifier: Apache-2.0
/* Symbol tables in the table cache, see module_cache.h and files/table_cache.h. */
#include "symbolize/module_cache.h"

#include "files/table_parser.h"

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

static void flatten(const void *table, struct flat_writer *writer)
{
	elf_symbols_flatten(table, writer);
}

static int restore(struct flat_reader *reader, bool is_from_place, void **ret)
{
	struct elf_symbols *table;
	const int err = elf_symbols_restore(reader, is_from_place, &table);

	if (!err)
		*ret = table;
	return err;
}

static const struct table_kind kind = {
	.role = PARSER_SYMBOLS,
	.flatten = flatten,
	.restore = restore,
	.load = load,
	.free = free_table,
	.bytes = bytes_of,
	.equal = are_equal,
	.is_private = is_private,
	.none_reason = "cannot be read",
	.large_reason = "symbols too large",
	.needs_place = true,
};

void module_cache_parse(int sock)
{
	table_parser_serve(&kind, sock);
}

void module_cache_attach(struct table_cache *tables)
{
	table_cache_set_kind(tables, TABLE_SYMBOLS, &kind);
}

struct elf_symbols *module_cache_find(struct table_cache *tables, pid_t pid,
				      const struct mapping *mapping, const char **ret_reason)
{
	return table_cache_find(tables, TABLE_SYMBOLS, pid, mapping, ret_reason);
}
