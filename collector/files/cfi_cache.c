// SPDX-License-Identifier: Apache-2.0
/* Unwind tables as a kind of table of the table cache, see cfi_cache.h and files/table_cache.h. */
#include "files/cfi_cache.h"

#include "files/table_parser.h"

static int load(int fd, const struct debug_place *place, void **ret)
{
	struct cfi_table *table;
	const int err = cfi_table_load(fd, &table);

	(void)place; /* the unwind table is always in the mapped file itself */
	if (!err)
		*ret = table;
	return err;
}

static void free_table(void *table)
{
	cfi_table_free(table);
}

static size_t bytes_of(const void *table)
{
	return cfi_table_bytes(table);
}

static bool are_equal(const void *a, const void *b)
{
	return cfi_table_equal(a, b);
}

static void flatten(const void *table, struct flat_writer *writer)
{
	cfi_table_flatten(table, writer);
}

static int restore(struct flat_reader *reader, bool is_private, void **ret)
{
	struct cfi_table *table;
	const int err = cfi_table_restore(reader, &table);

	(void)is_private;
	if (!err)
		*ret = table;
	return err;
}

static const struct table_kind kind = {
	.role = PARSER_UNWIND,
	.flatten = flatten,
	.restore = restore,
	.load = load,
	.free = free_table,
	.bytes = bytes_of,
	.equal = are_equal,
	.none_reason = "no unwind rules",
	.large_reason = "unwind rules too large",
};

void cfi_cache_parse(int sock)
{
	table_parser_serve(&kind, sock);
}

void cfi_cache_attach(struct table_cache *tables)
{
	table_cache_set_kind(tables, TABLE_UNWIND, &kind);
}

const struct cfi_table *cfi_cache_find(struct table_cache *tables, pid_t pid,
				       const struct mapping *mapping, const char **ret_reason)
{
	return table_cache_find(tables, TABLE_UNWIND, pid, mapping, ret_reason);
}
