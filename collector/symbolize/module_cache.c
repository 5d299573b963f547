// SPDX-License-Identifier: Apache-2.0
/* The table cache of symbols, see module_cache.h and elf/table_cache.h. */
#include "symbolize/module_cache.h"

#include "elf/table_cache.h"

#include <errno.h>
#include <stdlib.h>

struct module_cache {
	struct table_cache tables;
};

static int load(int fd, void **ret)
{
	struct elf_symbols *table;
	const int err = elf_symbols_load(fd, &table);

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

static const struct table_kind kind = {
	.load = load,
	.free = free_table,
	.bytes = bytes_of,
	.equal = are_equal,
	.none_reason = "cannot be read",
	.large_reason = "symbols too large",
};

int module_cache_new(size_t max_bytes, struct module_cache **ret)
{
	struct module_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	cache->tables.store.kind = &kind;
	cache->tables.store.max_bytes = max_bytes;
	*ret = cache;
	return 0;
}

void module_cache_free(struct module_cache *cache)
{
	if (!cache)
		return;
	table_cache_fini(&cache->tables);
	free(cache);
}

struct elf_symbols *module_cache_find(struct module_cache *cache, pid_t pid,
				      const struct mapping *mapping, const char **ret_reason)
{
	return table_cache_find(&cache->tables, pid, mapping, ret_reason);
}

void module_cache_forget(struct module_cache *cache, pid_t pid)
{
	table_cache_forget(&cache->tables, pid);
}

void module_cache_stats(const struct module_cache *cache, struct module_cache_stats *ret)
{
	struct table_cache_stats stats;

	table_cache_stats(&cache->tables, &stats);
	*ret = (struct module_cache_stats){
		.modules = stats.tables,
		.failed = stats.failed,
		.bytes = stats.bytes,
		.loads = stats.loads,
		.hits = stats.hits,
		.evicted = stats.evicted,
	};
}
