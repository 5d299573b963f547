// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a file, as processes of a scope know it -> the tables made of the file; files with equal
 *          tables share one
 * units:   bytes, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  NULL or a reason, a short static text
 * source:  stat(2)
 *
 * The part of table_cache that knows files but not processes. A struct module is a file, and lives
 * until table_store_forget or table_store_fini. table_store_put may evict tables of modules, which
 * are NULL then. A module holds its file (O_PATH) as long as mappings of processes lead to it; past
 * max_fds the descriptor that was used least recently is closed. A zero-filled struct table_store
 * with kinds, max_bytes and max_fds set is valid and empty.
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

/* The kinds of tables of a file. */
enum table_of { TABLE_UNWIND, TABLE_SYMBOLS, TABLE_PROBES, TABLE_KINDS };

struct stored_table; /* opaque */

/*
 * Without table, reason and job, the table may be loaded: it was never loaded, was evicted, or
 * there was no memory.
 */
struct table_slot {
	struct stored_table *table;
	const char *reason;    /* why there is no table and never will be */
	struct table_job *job; /* while the table is being loaded; owned by the loader */
	uint64_t evicted_ns;   /* when the table was last evicted; 0: never */
};

/* A file as processes of one scope know it: in another scope it may have other debug files. */
struct module {
	struct stat st;
	struct file_scope scope;
	uint64_t mapped_inode; /* the file's numbers in its last mapping; may differ from st */
	dev_t mapped_dev;
	int path_fd;	   /* -1: not held */
	size_t mappings;   /* mappings that lead to this module */
	uint64_t last_use; /* when the descriptor was last used */
	struct table_slot slots[TABLE_KINDS];
	struct module *next;	    /* next module with an equal key */
	struct module *next_unused; /* while modules are dropped */
};

struct table_counts {
	uint64_t loads;	  /* files read */
	uint64_t load_ns; /* time that loads took */
	uint64_t evicted;
};

struct table_store {
	const struct table_kind *kinds[TABLE_KINDS];
	size_t max_bytes, max_fds;
	size_t count;	    /* number of modules */
	struct map64 files; /* (device and inode of stat, scope) -> list of modules, owned */
	struct map64
		mapped; /* (device and inode of the mapping, scope or any scope) -> one module */
	struct stored_table *tables;
	uint64_t now; /* grows with every use */
	size_t fds;
	uint64_t fds_closed; /* descriptors closed past max_fds while they were of use */
	struct table_counts counts[TABLE_KINDS];
};

/* At TABLE_STORE_MAX: table_store_forget must be called before the next table_store_add. */
bool table_store_is_full(const struct table_store *store);
/*
 * The module of the file st behind the mapping, made if it is not known. If the file has changed,
 * the module loses its tables. NULL without memory. Takes path_fd in any case.
 */
struct module *table_store_add(struct table_store *store, int path_fd, const struct stat *st,
			       const struct mapping *mapping, const struct file_scope *scope);
/*
 * The module that is known by the mapping's device and inode in a scope, or NULL. scope NULL means
 * any scope, for a process that is gone: for such a process only tables of the module that are not
 * private hold.
 */
struct module *table_store_find(const struct table_store *store, const struct mapping *mapping,
				const struct file_scope *scope);
/*
 * Counts one mapping more, or less, that leads to the module. Without mappings the module's
 * descriptor is closed.
 */
void table_store_hold(struct module *module);
void table_store_release(struct table_store *store, struct module *module);

/* Makes a job for a table of the module. NULL: no memory, no descriptors, or no file is held. */
struct table_job *table_store_new_job(struct table_store *store, struct module *module,
				      enum table_of of);
/* Of which kind a job's table is. */
enum table_of table_store_kind_of(const struct table_store *store, const struct table_job *job);
/* Frees a job that was not done. Its table is loaded when it is asked for again. */
void table_store_drop(struct table_store *store, struct table_job *job);
/* Takes a job that is done. May evict tables. Returns why the table is missing, or NULL. */
const char *table_store_put(struct table_store *store, struct table_job *job);
/* Whether the module's table holds for the module's scope only. */
bool table_store_is_private(const struct table_store *store, const struct module *module,
			    enum table_of of);
/* The module's table, which must be there; borrowed until the next table_store_put. */
void *table_store_use(struct table_store *store, const struct module *module, enum table_of of);
/*
 * Frees the modules to which no mapping leads, and gives back what the maps have too much; tables
 * stay. Jobs of these modules are dropped by table_store_put.
 */
void table_store_drop_unused(struct table_store *store);
/* The memory of all modules, without tables. */
size_t table_store_module_bytes(const struct table_store *store);
/* Evicts tables until the others have room. Borrowed tables are then no longer valid. */
void table_store_evict(struct table_store *store);
/* Frees all modules; tables stay. Jobs of these modules are dropped by table_store_put. */
void table_store_forget(struct table_store *store);
/* The number of tables of a kind, and their memory. */
size_t table_store_count(const struct table_store *store, enum table_of of, size_t *ret_bytes);
/* What tables of a kind leave out of their files, see files/table_kind.h. */
size_t table_store_left_out(const struct table_store *store, enum table_of of);
void table_store_fini(struct table_store *store);

#endif
