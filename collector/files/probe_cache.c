// SPDX-License-Identifier: Apache-2.0
/* Tables of probe points in the table cache, see probe_cache.h and files/table_cache.h. */
#include "files/probe_cache.h"

#include "files/table_parser.h"

static int load(int fd, const struct debug_place *place, void **ret)
{
	struct probe_notes *table;
	const int err = probe_notes_load(fd, &table);

	(void)place; /* notes are always in the mapped file itself */
	if (!err)
		*ret = table;
	return err;
}

static void free_table(void *table)
{
	probe_notes_free(table);
}

static size_t bytes_of(const void *table)
{
	return probe_notes_bytes(table);
}

static size_t left_out_of(const void *table)
{
	const struct probe_notes *const notes = table;

	return (size_t)notes->unsound + notes->surplus;
}

static bool are_equal(const void *a, const void *b)
{
	return probe_notes_equal(a, b);
}

static void flatten(const void *table, struct flat_writer *writer)
{
	probe_notes_flatten(table, writer);
}

static int restore(struct flat_reader *reader, bool is_private, void **ret)
{
	struct probe_notes *table;
	const int err = probe_notes_restore(reader, &table);

	(void)is_private;
	if (!err)
		*ret = table;
	return err;
}

static const struct table_kind kind = {
	.role = PARSER_PROBES,
	.flatten = flatten,
	.restore = restore,
	.load = load,
	.free = free_table,
	.bytes = bytes_of,
	.equal = are_equal,
	.left_out = left_out_of,
	.none_reason = "no probe points",
	.large_reason = "probe notes too large",
	.is_on_demand = true,
};

void probe_cache_parse(int sock)
{
	table_parser_serve(&kind, sock);
}

void probe_cache_attach(struct table_cache *tables)
{
	table_cache_set_kind(tables, TABLE_PROBES, &kind);
}

const struct probe_notes *probe_cache_find(struct table_cache *tables, pid_t pid,
					   const struct mapping *mapping, const char **ret_reason)
{
	const struct probe_notes *const notes =
		table_cache_find(tables, TABLE_PROBES, pid, mapping, ret_reason);

	if (notes && notes->count == 0) {
		*ret_reason = "probe notes that lead nowhere";
		return NULL;
	}
	return notes;
}
