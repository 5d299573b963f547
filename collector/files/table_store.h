// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a file that is known to those of a scope -> the tables made of it, one for all files
 *          that make equal ones
 * units:   bytes, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  NULL or a reason, a short static text
 * source:  stat(2)
 *
 * The part of table_cache that knows files and not processes. A zero-filled struct table_store
 * with kinds, max_bytes and max_fds set is a valid, empty one. A struct module lives until
 * table_store_forget or table_store_fini; its tables may be evicted when another is put in, and are
 * then NULL. It holds its file (O_PATH) as long as mappings of processes lead to it, if there are
 * descriptors for that; the one that was looked at least recently goes first.
 */
#ifndef FG_FILES_TABLE_STORE_H
#define FG_FILES_TABLE_STORE_H

#include "base/map64.h"
#include "files/file_scope.h"
#include "files/table_loader.h"
#include "memory/address_space.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define TABLE_STORE_MAX (64u << 10)

/* What a file's tables are of. */
enum table_of { TABLE_UNWIND, TABLE_SYMBOLS, TABLE_KINDS };

struct stored_table; /* opaque */

/* Neither table, reason nor job: not loaded yet, evicted, or memory was out: worth a load. */
struct table_slot {
	struct stored_table *table;
	const char *reason;    /* why there is no table and never will be */
	struct table_job *job; /* it is being loaded; the loader's */
	uint64_t evicted_ns;   /* when it last was; 0: never */
};

/* A file as those of one scope know it: another's may have other files that go with it. */
struct module {
	struct stat st;
	struct file_scope scope;
	uint64_t mapped_inode; /* the same file as the last mapping of it named it */
	dev_t mapped_dev;
	int path_fd;	   /* -1: not kept */
	size_t mappings;   /* that lead here */
	uint64_t last_use; /* of the descriptor */
	struct table_slot slots[TABLE_KINDS];
	struct module *next; /* of the same key */
};

struct table_counts {
	uint64_t loads;	  /* files read */
	uint64_t load_ns; /* how long that took */
	uint64_t evicted;
};

struct table_store {
	const struct table_kind *kinds[TABLE_KINDS];
	size_t max_bytes, max_fds;
	size_t count;	    /* of modules */
	struct map64 files; /* by device and inode of stat, and scope -> modules, owned */
	struct map64
		mapped; /* by device and inode of the mapping, with scope and without -> module */
	struct stored_table *tables;
	uint64_t now; /* rises with every use */
	size_t fds;
	uint64_t fds_closed; /* for want of room, while they were of use */
	struct table_counts counts[TABLE_KINDS];
};

/* At TABLE_STORE_MAX: forget before the next table_store_add. */
bool table_store_is_full(const struct table_store *store);
/*
 * What is known of the file st behind mapping, nothing if it has changed; NULL if out of memory.
 * Takes path_fd in any case.
 */
struct module *table_store_add(struct table_store *store, int path_fd, const struct stat *st,
			       const struct mapping *mapping, const struct file_scope *scope);
/*
 * A file already known by the mapping's own numbers in that scope, or NULL. A scope of NULL is any,
 * for when the process is gone and with it its own; then only tables that are not private say
 * something of it.
 */
struct module *table_store_find(const struct table_store *store, const struct mapping *mapping,
				const struct file_scope *scope);
/* One mapping more or less leads to module; with the last one its descriptor goes. */
void table_store_hold(struct module *module);
void table_store_release(struct table_store *store, struct module *module);

/* A job that loads a table of module; NULL if out of memory or descriptors, or it has no file. */
struct table_job *table_store_new_job(struct table_store *store, struct module *module,
				      enum table_of of);
/* Takes a job that is done, and may evict. Returns why its module has no table, or NULL. */
const char *table_store_put(struct table_store *store, struct table_job *job);
/* Whether the module's table says something of the module's scope alone. */
bool table_store_is_private(const struct table_store *store, const struct module *module,
			    enum table_of of);
/* The module's table, which must be there; borrowed until the next table_store_put. */
void *table_store_use(struct table_store *store, const struct module *module, enum table_of of);
/* All modules go, tables stay. Their jobs belong to nobody then. */
void table_store_forget(struct table_store *store);
size_t table_store_count(const struct table_store *store, enum table_of of, size_t *ret_bytes);
void table_store_fini(struct table_store *store);

#endif
