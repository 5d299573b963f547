// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a file that is open -> a table made of it, one for all files that make equal ones
 * units:   bytes
 * threads: one at a time
 * errors:  NULL with a reason, a short static text
 * source:  stat(2)
 *
 * The part of table_cache that knows files and not processes. A zero-filled struct table_store
 * with kind and max_bytes set is a valid, empty one. A struct module lives until
 * table_store_forget or table_store_fini; its table may be evicted by any load and is then NULL.
 */
#ifndef FG_ELF_TABLE_STORE_H
#define FG_ELF_TABLE_STORE_H

#include "base/map64.h"
#include "target/address_space.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define TABLE_STORE_MAX (64u << 10)

/* What tables are of. */
struct table_kind {
	/* -ENOENT: the file has nothing to make a table of; -ENOEXEC, -EFBIG, -ENOMEM. */
	int (*load)(int fd, void **ret);
	void (*free)(void *table);
	size_t (*bytes)(const void *table);
	bool (*equal)(const void *a, const void *b);
	const char *none_reason, *large_reason; /* for -ENOENT and -EFBIG */
};

struct stored_table; /* opaque */

/* Neither table nor reason: not loaded yet, evicted, or memory was out: worth a load. */
struct module {
	struct stat st;
	uint64_t mapped_inode; /* the same file as the last mapping of it named it */
	dev_t mapped_dev;
	struct stored_table *table;
	const char *reason; /* why it has no table and never will */
};

struct table_store {
	const struct table_kind *kind;
	size_t max_bytes;
	struct map64 files;  /* by device and inode of stat -> module, owned */
	struct map64 mapped; /* by device and inode of the mapping -> module */
	struct stored_table *tables;
	uint64_t now; /* rises with every use */
	uint64_t loads, evicted;
};

/* At TABLE_STORE_MAX: forget before the next table_store_add. */
bool table_store_is_full(const struct table_store *store);
/* What is known of the file st behind mapping, nothing if it has changed; NULL if out of memory. */
struct module *table_store_add(struct table_store *store, const struct stat *st,
			       const struct mapping *mapping);
/* A file already known by the mapping's own numbers, for when it cannot be opened any more. */
struct module *table_store_find(const struct table_store *store, const struct mapping *mapping);
/* Reads module's file; NULL, or a reason if it has no table afterwards. */
const char *table_store_load(struct table_store *store, struct module *module, int fd);
/* module->table must not be NULL. Borrowed until the next load. */
void *table_store_use(struct table_store *store, const struct module *module);
/* All modules go, tables stay. */
void table_store_forget(struct table_store *store);
size_t table_store_count(const struct table_store *store, size_t *ret_bytes);
void table_store_fini(struct table_store *store);

#endif
