// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's mapping -> the tables made of the file behind it, shared between processes
 * units:   bytes
 * threads: one at a time; a loader of its own reads files if that is wanted
 * errors:  NULL with a reason text; nothing here ends the run
 * source:  proc(5) root and map_files, openat2(2), vdso(7)
 *
 * A file is found when its mapping is first seen and held (O_PATH) as long as a process that maps
 * it is known, so that it can still be read when the process, its container or its name is gone;
 * see files/module_file.h for how. A file is known again by device, inode, size, mtime and ctime.
 * Files that make equal tables, such as one library in many containers, share one; that is found by
 * comparing, not by build ID, because a container could give its own file another's build ID. For
 * the same reason a table for which the target's root had a debug file is for those alone who have
 * that root, see files/file_scope.h, even if others map the same file.
 *
 * All tables together are kept up to max_bytes, the least recently used going first, be it unwind
 * rules or symbols: what a profile needs of each differs too much from host to host to divide the
 * memory beforehand. A file that could not be read is remembered as such, with its reason; want of
 * memory or descriptors is not remembered.
 *
 * With a loader nobody waits for a file: what is not there yet is answered by NULL and "still
 * loading", and counted as missing, which tells the caller to ask again when table_cache_fd is
 * readable. A table that was evicted is not loaded again at once: tables that do not fit together
 * would have the loader do nothing else.
 *
 * A mapping named [vdso] is answered from this process's own, which is the same image.
 */
#ifndef FG_FILES_TABLE_CACHE_H
#define FG_FILES_TABLE_CACHE_H

#include "files/table_store.h"
#include "memory/address_space.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TABLE_CACHE_DEFAULT_BYTES ((size_t)512 << 20)
#define TABLE_CACHE_LEAST_BYTES	  ((size_t)1 << 20)
#define TABLE_CACHE_MOST_BYTES	  ((size_t)64 << 30)
#define TABLE_CACHE_MAX_FDS	  1024 /* or a quarter of what the process may have */

struct table_cache; /* opaque */

struct table_stats {
	size_t tables;	  /* the vDSO's included */
	size_t failed;	  /* mappings remembered as unreadable */
	size_t bytes;	  /* of tables */
	uint64_t loads;	  /* files read */
	uint64_t hits;	  /* answers without a system call */
	uint64_t evicted; /* tables dropped because of max_bytes */
	uint64_t put_off; /* answers that would have taken more than was allowed: loads, or time */
	uint64_t load_ns; /* how long loads took */
	size_t loading;	  /* at the loader */
};

struct table_cache_stats {
	size_t max_bytes;
	size_t files;	    /* known */
	size_t mappings;    /* of which it is known what file they are of */
	uint64_t forgotten; /* times that all were, because these or files were too many */
	size_t descriptors; /* held */
	size_t max_descriptors;
	uint64_t opened;	     /* files found for a mapping, some more than once */
	uint64_t unopened;	     /* mappings whose file could not be found */
	uint64_t descriptors_closed; /* for want of room, while their processes were there */
	uint64_t not_begun;	     /* loads ahead of need that were left, for too many waited */
};

/* has_loader: files are read by a thread of its own; otherwise when they are asked for. */
int table_cache_new(size_t max_bytes, bool has_loader, struct table_cache **ret);
void table_cache_free(struct table_cache *cache); /* NULL is legal */
/* What tables of that sort are; borrowed, before the first of them is asked for. */
void table_cache_set_kind(struct table_cache *cache, enum table_of of,
			  const struct table_kind *kind);

/* Takes hold of the file behind a mapping of process pid if it is not known yet. */
void table_cache_see(struct table_cache *cache, pid_t pid, const struct mapping *mapping);
/* The same, and its tables will be wanted soon. */
void table_cache_expect(struct table_cache *cache, pid_t pid, const struct mapping *mapping);

/*
 * Until the next such call at most so many loads begin; what needs another one is answered by
 * NULL and "put off", which is not remembered. Evicted tables are read again, and whoever owns
 * large files could have that done for every frame of a stack.
 */
void table_cache_allow(struct table_cache *cache, unsigned int loads);
/*
 * Whether who asks is ready to ask again: only then is what is being loaded counted as missing.
 * Without, it is put off. True at first.
 */
void table_cache_be_patient(struct table_cache *cache, bool is_patient);
/* Rises with each answer that was "still loading" to somebody patient. */
uint64_t table_cache_missing(const struct table_cache *cache);
/* With each answer that was put off, whatever it was of. */
uint64_t table_cache_put_off(const struct table_cache *cache);
/* With each table that has come from the loader. */
uint64_t table_cache_loads(const struct table_cache *cache);

/*
 * That table of the file behind a mapping of process pid, borrowed until table_cache_step, or the
 * next call without a loader. Or NULL and *ret_reason, a short static text ("no file", "file is
 * gone", "not the mapped file", "no ELF", ...).
 */
void *table_cache_find(struct table_cache *cache, enum table_of of, pid_t pid,
		       const struct mapping *mapping, const char **ret_reason);

/* Puts in what has been loaded; true if that was anything. Nothing borrowed is valid then. */
bool table_cache_step(struct table_cache *cache);
/* Readable when table_cache_step has something to do; -1 without a loader. */
int table_cache_fd(const struct table_cache *cache);

/* The process is gone: what was remembered for its mappings may go, tables stay for others. */
void table_cache_forget(struct table_cache *cache, pid_t pid);

void table_cache_stats(const struct table_cache *cache, struct table_cache_stats *ret);
void table_cache_table_stats(const struct table_cache *cache, enum table_of of,
			     struct table_stats *ret);

#endif
