// SPDX-License-Identifier: Apache-2.0
/*
 * Files by identity, tables by content, the least recently used table going first. Tables are few
 * (hundreds), so they stand in a list; files are looked up by hash. See table_store.h.
 */
#include "elf/table_store.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

struct stored_table {
	void *content;
	uint64_t last_use;
	struct stored_table *next;
};

static uint64_t key_of(dev_t dev, uint64_t inode)
{
	return inode ^ (uint64_t)dev * UINT64_C(0x9e3779b97f4a7c15);
}

void table_store_forget(struct table_store *store)
{
	size_t pos = 0;
	uint64_t key;
	void *module;

	while (map64_next(&store->files, &pos, &key, &module))
		free(module);
	map64_fini(&store->files);
	map64_fini(&store->mapped);
}

void table_store_fini(struct table_store *store)
{
	table_store_forget(store);
	for (struct stored_table *table = store->tables, *next; table; table = next) {
		next = table->next;
		store->kind->free(table->content);
		free(table);
	}
	*store = (struct table_store){0};
}

size_t table_store_count(const struct table_store *store, size_t *ret_bytes)
{
	size_t count = 0, bytes = 0;

	for (const struct stored_table *table = store->tables; table; table = table->next) {
		count++;
		bytes += store->kind->bytes(table->content);
	}
	*ret_bytes = bytes;
	return count;
}

static void remove_table(struct table_store *store, struct stored_table **at)
{
	struct stored_table *table = *at;
	size_t pos = 0;
	uint64_t key;
	void *value;

	*at = table->next;
	while (map64_next(&store->files, &pos, &key, &value)) {
		struct module *module = value;

		if (module->table == table)
			module->table = NULL;
	}
	store->kind->free(table->content);
	free(table);
	store->evicted++;
}

/* The newest one stays, however large, for the caller is about to use it. */
static void evict(struct table_store *store, const struct stored_table *newest)
{
	size_t bytes;

	while (table_store_count(store, &bytes) > 1 && bytes > store->max_bytes) {
		struct stored_table **oldest = NULL;

		for (struct stored_table **at = &store->tables; *at; at = &(*at)->next) {
			if (*at != newest && (!oldest || (*at)->last_use < (*oldest)->last_use))
				oldest = at;
		}
		remove_table(store, oldest);
	}
}

/* Takes content. */
static struct stored_table *add_table(struct table_store *store, void *content)
{
	struct stored_table *table;

	for (table = store->tables; table; table = table->next) {
		if (store->kind->equal(table->content, content)) {
			store->kind->free(content);
			return table;
		}
	}
	table = malloc(sizeof(*table));
	if (!table) {
		store->kind->free(content);
		return NULL;
	}
	*table = (struct stored_table){
		.content = content, .last_use = store->now, .next = store->tables};
	store->tables = table;
	evict(store, table);
	return table;
}

bool table_store_is_full(const struct table_store *store)
{
	return store->files.count >= TABLE_STORE_MAX;
}

static bool times_equal(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       times_equal(&a->st_mtim, &b->st_mtim) && times_equal(&a->st_ctim, &b->st_ctim);
}

struct module *table_store_add(struct table_store *store, const struct stat *st,
			       const struct mapping *mapping)
{
	const uint64_t key = key_of(st->st_dev, st->st_ino);
	struct module *module = map64_find(&store->files, key);

	if (!module) {
		module = calloc(1, sizeof(*module));
		if (!module || map64_put(&store->files, key, module) < 0) {
			free(module);
			return NULL;
		}
	}
	if (!is_same_file(&module->st, st))
		*module = (struct module){.st = *st};
	module->mapped_dev = makedev(mapping->dev_major, mapping->dev_minor);
	module->mapped_inode = mapping->inode;
	/* Not remembered that way, it is only not found once its process is gone. */
	(void)map64_put(&store->mapped, key_of(module->mapped_dev, module->mapped_inode), module);
	return module;
}

struct module *table_store_find(const struct table_store *store, const struct mapping *mapping)
{
	const dev_t dev = makedev(mapping->dev_major, mapping->dev_minor);
	struct module *module = map64_find(&store->mapped, key_of(dev, mapping->inode));

	return module && module->mapped_dev == dev && module->mapped_inode == mapping->inode
		       ? module
		       : NULL;
}

const char *table_store_load(struct table_store *store, struct module *module, int fd)
{
	void *content = NULL;

	store->loads++;
	switch (store->kind->load(fd, &content)) {
	case 0:
		module->table = add_table(store, content);
		return module->table ? NULL : "out of memory";
	case -ENOMEM:
		return "out of memory";
	case -ENOENT:
		module->reason = store->kind->none_reason;
		break;
	case -ENOEXEC:
		module->reason = "no ELF";
		break;
	case -EFBIG:
		module->reason = store->kind->large_reason;
		break;
	default:
		module->reason = "cannot be read";
		break;
	}
	return module->reason;
}

void *table_store_use(struct table_store *store, const struct module *module)
{
	module->table->last_use = ++store->now;
	return module->table->content;
}
