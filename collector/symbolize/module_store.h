// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a file that is open -> its symbols, one table for all files of equal symbols
 * units:   bytes
 * threads: one at a time
 * errors:  NULL with a reason, a short static text
 * source:  stat(2)
 *
 * The part of module_cache that knows files and not processes. A zero-filled struct module_store
 * with max_bytes set is a valid, empty one. A struct module lives until module_store_forget or
 * module_store_fini; its table may be evicted by any load and is then NULL.
 */
#ifndef FG_SYMBOLIZE_MODULE_STORE_H
#define FG_SYMBOLIZE_MODULE_STORE_H

#include "base/map64.h"
#include "symbolize/elf_symbols.h"
#include "target/address_space.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define MODULE_STORE_MAX (64u << 10)

struct module_table; /* opaque */

/* Neither table nor reason: not loaded yet, evicted, or memory was out: worth a load. */
struct module {
	struct stat st;
	uint64_t mapped_inode; /* the same file as the last mapping of it named it */
	dev_t mapped_dev;
	struct module_table *table;
	const char *reason; /* why it has no table and never will */
};

struct module_store {
	size_t max_bytes;
	struct map64 files;  /* by device and inode of stat -> module, owned */
	struct map64 mapped; /* by device and inode of the mapping -> module */
	struct module_table *tables;
	uint64_t now; /* rises with every use */
	uint64_t loads, evicted;
};

/* At MODULE_STORE_MAX: forget before the next module_store_add. */
bool module_store_is_full(const struct module_store *store);
/* What is known of the file st behind mapping, nothing if it has changed; NULL if out of memory. */
struct module *module_store_add(struct module_store *store, const struct stat *st,
				const struct mapping *mapping);
/* A file already known by the mapping's own numbers, for when it cannot be opened any more. */
struct module *module_store_find(const struct module_store *store, const struct mapping *mapping);
/* Reads module's file; NULL, or a reason if it has no table afterwards. */
const char *module_store_load(struct module_store *store, struct module *module, int fd);
/* module->table must not be NULL. Borrowed until the next load. */
struct elf_symbols *module_store_use(struct module_store *store, const struct module *module);
/* All modules go, tables stay. */
void module_store_forget(struct module_store *store);
size_t module_store_count(const struct module_store *store, size_t *ret_bytes);
void module_store_fini(struct module_store *store);

#endif
