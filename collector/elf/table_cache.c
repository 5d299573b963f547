// SPDX-License-Identifier: Apache-2.0
/*
 * Three steps from a mapping to its table, see table_cache.h:
 *
 *   (pid, start) -> struct memo          what was found for that mapping; the hot path, one look-up
 *   memo -> struct module                what a file that could be opened turned out to hold
 *   module -> table                      what was made of it; gone if evicted, and loaded again then
 *
 * The first is here, the others are table_store's.
 */
#include "elf/table_cache.h"

#include "base/cleanup.h"
#include "elf/module_file.h"
#include "elf/table_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Then all is forgotten; only a target that maps ever new places gets there. */
#define MAX_MEMOS (256u << 10)

struct memo {
	uint64_t start, inode;
	uint32_t dev_major, dev_minor;
	struct module *module; /* or NULL */
	const char *reason;    /* why the file could not be opened, or NULL */
	struct memo *next;     /* of the same process */
};

/* A pid has 22 bits; addresses of one process 2^54 apart share a memo, which is slow but right. */
static uint64_t memo_key(pid_t pid, uint64_t start)
{
	return (uint64_t)pid << 42 | (start >> 12 & ((UINT64_C(1) << 42) - 1));
}

static void forget_all(struct table_cache *cache)
{
	size_t pos = 0;
	uint64_t key;
	void *memo;

	while (map64_next(&cache->memos, &pos, &key, &memo))
		free(memo);
	map64_fini(&cache->memos);
	map64_fini(&cache->processes);
	table_store_forget(&cache->store);
}

void table_cache_fini(struct table_cache *cache)
{
	const struct table_kind *kind = cache->store.kind;

	forget_all(cache);
	table_store_fini(&cache->store);
	if (cache->vdso)
		kind->free(cache->vdso);
	*cache = (struct table_cache){0};
}

void table_cache_forget(struct table_cache *cache, pid_t pid)
{
	struct memo *memo = map64_remove(&cache->processes, (uint64_t)pid);

	for (struct memo *next; memo; memo = next) {
		next = memo->next;
		map64_remove(&cache->memos, memo_key(pid, memo->start));
		free(memo);
	}
}

static struct memo *add_memo(struct table_cache *cache, pid_t pid, uint64_t start)
{
	struct memo *memo = calloc(1, sizeof(*memo));

	if (!memo)
		return NULL;
	memo->start = start;
	memo->next = map64_find(&cache->processes, (uint64_t)pid);
	if (map64_put(&cache->memos, memo_key(pid, start), memo) < 0) {
		free(memo);
		return NULL;
	}
	if (map64_put(&cache->processes, (uint64_t)pid, memo) < 0) {
		map64_remove(&cache->memos, memo_key(pid, start));
		free(memo);
		return NULL;
	}
	return memo;
}

/* That mapping's memo, emptied if its place holds something else now; NULL if out of memory. */
static struct memo *find_memo(struct table_cache *cache, pid_t pid, const struct mapping *mapping)
{
	struct memo *memo = map64_find(&cache->memos, memo_key(pid, mapping->start));

	if (!memo) {
		if (cache->memos.count >= MAX_MEMOS || table_store_is_full(&cache->store))
			forget_all(cache);
		memo = add_memo(cache, pid, mapping->start);
	}
	if (!memo ||
	    (memo->start == mapping->start && memo->inode == mapping->inode &&
	     memo->dev_major == mapping->dev_major && memo->dev_minor == mapping->dev_minor))
		return memo;
	memo->start = mapping->start;
	memo->inode = mapping->inode;
	memo->dev_major = mapping->dev_major;
	memo->dev_minor = mapping->dev_minor;
	memo->module = NULL;
	memo->reason = NULL;
	return memo;
}

void table_cache_allow(struct table_cache *cache, unsigned int loads)
{
	cache->loads_end = cache->store.loads + loads;
}

/* Fills memo->module or memo->reason, or returns the reason of a failure worth another try. */
static const char *resolve(struct table_cache *cache, pid_t pid, const struct mapping *mapping,
			   struct memo *memo)
{
	const char *reason = NULL;
	struct stat st;
	_cleanup_close_ int fd = module_file_open(pid, mapping, &st, &reason);

	if (fd < 0) {
		memo->module = table_store_find(&cache->store, mapping);
		if (memo->module && !memo->module->table)
			memo->module = NULL;
		if (!memo->module && fd != -ENOMEM && fd != -EMFILE && fd != -ENFILE)
			memo->reason = reason;
		return reason;
	}
	memo->module = table_store_add(&cache->store, &st, mapping);
	if (!memo->module)
		return "out of memory";
	if (memo->module->table || memo->module->reason)
		return memo->module->reason;
	if (cache->loads_end > 0 && cache->store.loads >= cache->loads_end) {
		cache->put_off++;
		return "put off";
	}
	return table_store_load(&cache->store, memo->module, fd);
}

static void *find_vdso(struct table_cache *cache, const struct mapping *mapping,
		       const char **ret_reason)
{
	_cleanup_close_ int fd = -1;

	/* That of a 32-bit process is another image. Its address space ends at 4 GiB. */
	if (sizeof(void *) == 8 && mapping->end <= UINT64_C(1) << 32) {
		*ret_reason = "vDSO of a 32-bit process";
		return NULL;
	}
	if (!cache->vdso && !cache->vdso_reason) {
		fd = module_file_open_vdso();
		if (fd < 0 || cache->store.kind->load(fd, &cache->vdso) < 0)
			cache->vdso_reason = "vDSO cannot be read";
	}
	if (!cache->vdso)
		*ret_reason = cache->vdso_reason;
	return cache->vdso;
}

/* Whether everything is known already, be it that there is nothing. */
static bool is_resolved(const struct memo *memo)
{
	return memo->reason || (memo->module && (memo->module->table || memo->module->reason));
}

void *table_cache_find(struct table_cache *cache, pid_t pid, const struct mapping *mapping,
		       const char **ret_reason)
{
	const char *reason = NULL;
	struct memo *memo;

	if (mapping->inode == 0) {
		if (strcmp(mapping->path, "[vdso]") == 0)
			return find_vdso(cache, mapping, ret_reason);
		*ret_reason = "no file";
		return NULL;
	}
	memo = find_memo(cache, pid, mapping);
	if (!memo) {
		*ret_reason = "out of memory";
		return NULL;
	}
	if (is_resolved(memo))
		cache->hits++;
	else
		reason = resolve(cache, pid, mapping, memo);
	if (memo->module && memo->module->table)
		return table_store_use(&cache->store, memo->module);
	if (memo->reason)
		reason = memo->reason;
	else if (memo->module && memo->module->reason)
		reason = memo->module->reason;
	*ret_reason = reason;
	return NULL;
}

void table_cache_stats(const struct table_cache *cache, struct table_cache_stats *ret)
{
	struct table_cache_stats stats = {
		.loads = cache->store.loads,
		.hits = cache->hits,
		.evicted = cache->store.evicted,
		.put_off = cache->put_off,
	};
	size_t pos = 0;
	uint64_t key;
	void *value;

	stats.tables = table_store_count(&cache->store, &stats.bytes);
	if (cache->vdso) {
		stats.tables++;
		stats.bytes += cache->store.kind->bytes(cache->vdso);
	}
	while (map64_next(&cache->memos, &pos, &key, &value)) {
		const struct memo *memo = value;

		stats.failed += memo->reason || (memo->module && memo->module->reason);
	}
	*ret = stats;
}
