// SPDX-License-Identifier: Apache-2.0
/* The table cache of unwind rules, see cfi_cache.h and elf/table_cache.h. */
#include "elf/cfi_cache.h"

#include "elf/table_cache.h"

#include <errno.h>
#include <stdlib.h>

struct cfi_cache {
	struct table_cache tables;
};

static int load(int fd, void **ret)
{
	struct cfi_table *table;
	const int err = cfi_table_load(fd, &table);

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

static const struct table_kind kind = {
	.load = load,
	.free = free_table,
	.bytes = bytes_of,
	.equal = are_equal,
	.none_reason = "no unwind rules",
	.large_reason = "unwind rules too large",
};

int cfi_cache_new(size_t max_bytes, struct cfi_cache **ret)
{
	struct cfi_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	cache->tables.store.kind = &kind;
	cache->tables.store.max_bytes = max_bytes;
	*ret = cache;
	return 0;
}

void cfi_cache_free(struct cfi_cache *cache)
{
	if (!cache)
		return;
	table_cache_fini(&cache->tables);
	free(cache);
}

void cfi_cache_allow(struct cfi_cache *cache, unsigned int loads)
{
	table_cache_allow(&cache->tables, loads);
}

const struct cfi_table *cfi_cache_find(struct cfi_cache *cache, pid_t pid,
				       const struct mapping *mapping, const char **ret_reason)
{
	return table_cache_find(&cache->tables, pid, mapping, ret_reason);
}

void cfi_cache_forget(struct cfi_cache *cache, pid_t pid)
{
	table_cache_forget(&cache->tables, pid);
}

void cfi_cache_stats(const struct cfi_cache *cache, struct cfi_cache_stats *ret)
{
	struct table_cache_stats stats;

	table_cache_stats(&cache->tables, &stats);
	*ret = (struct cfi_cache_stats){
		.tables = stats.tables,
		.failed = stats.failed,
		.bytes = stats.bytes,
		.loads = stats.loads,
		.hits = stats.hits,
		.evicted = stats.evicted,
		.put_off = stats.put_off,
	};
}
