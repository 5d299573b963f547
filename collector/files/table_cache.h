// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's mapping -> the tables made of its file, shared between processes
 * units:   bytes
 * threads: one at a time; with a loader, the loader's threads read files
 * errors:  NULL with a reason text; nothing here ends the run
 * source:  proc(5) root and map_files, openat2(2), vdso(7)
 *
 * Tables: a file has an unwind table, a symbol table, and a table of where it can be probed, which
 * is read only when it is asked for.
 *
 * Files: a file is found when its mapping is first seen, see files/module_file.h, and is held
 * (O_PATH) as long as a process that maps it is known. So the file can be read even when the
 * process, its container or the file's name is gone. A file is recognised by device, inode, size,
 * mtime and ctime.
 *
 * Sharing: files whose tables are equal, such as one library in many containers, share one table.
 * Tables are compared by contents, not by build ID, because a container can forge the build ID of
 * its own file. A table for which the process's root directory had a debug file is used only for
 * processes of an equal scope (files/file_scope.h), even if other processes map the file.
 *
 * Memory: all tables together take at most max_bytes. The least recently used table is evicted
 * first, of whatever kind, because hosts differ in how much of each kind they need. That a file
 * cannot be read is remembered with its reason; lack of memory or descriptors is not remembered.
 *
 * What is known of files and mappings has a limit of its own, max_file_bytes. Past it, or past
 * TABLE_STORE_MAX files, the container or user with the most mappings makes room: its files are
 * looked up anew.
 *
 * Waiting: with a loader no caller waits for a file. A table that is not loaded yet is answered by
 * NULL and "still loading" and counted as missing; the caller asks again when table_cache_fd is
 * readable. An evicted table is not loaded again at once: otherwise tables that do not fit together
 * would keep the loader busy.
 *
 * Past TABLE_CACHE_MAX_JOBS that wait to be loaded, one is put off of the container or user that
 * has the most of them, or else the one that is asked for.
 *
 * The mapping [vdso] is answered from the collector's own vDSO, which is the same image.
 */
#ifndef FG_FILES_TABLE_CACHE_H
#define FG_FILES_TABLE_CACHE_H

#include "base/counters.h"
#include "files/table_store.h"
#include "memory/address_space.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TABLE_CACHE_DEFAULT_BYTES ((size_t)512 << 20)
#define TABLE_CACHE_LEAST_BYTES	  ((size_t)1 << 20)
#define TABLE_CACHE_MOST_BYTES	  ((size_t)64 << 30)
#define TABLE_CACHE_MAX_JOBS	  256  /* each holds a descriptor and a table */
#define TABLE_CACHE_MAX_FDS	  1024 /* or a quarter of RLIMIT_NOFILE if that is less */

struct table_cache; /* opaque */

struct table_stats {
	size_t tables;	  /* tables, the vDSO's included */
	size_t failed;	  /* mappings whose file is remembered as unreadable */
	size_t bytes;	  /* memory of the tables */
	uint64_t loads;	  /* files read */
	uint64_t hits;	  /* answers without a system call */
	uint64_t evicted; /* tables dropped because of max_bytes */
	uint64_t put_off; /* answers that would have needed a load past the limit, or a wait */
	uint64_t load_ns; /* time that loads took */
	size_t loading;	  /* jobs at the loader */
	size_t stuck;	  /* of these, jobs whose file system does not answer */
	size_t left_out;  /* parts of files that tables leave out, of kinds that count them */
};
/* Of TABLE_UNWIND, TABLE_SYMBOLS and TABLE_PROBES. */
extern const struct counters unwind_table_counters, symbol_table_counters, probe_table_counters;

struct table_cache_stats {
	size_t max_bytes;
	size_t files;	    /* files known */
	size_t mappings;    /* mappings whose files are known, or known to be unreadable */
	size_t bytes;	    /* memory of files and mappings, without tables */
	uint64_t forgotten; /* times that files and mappings of an owner were forgotten: too many */
	size_t descriptors; /* descriptors of files held */
	size_t max_descriptors;
	uint64_t opened;	     /* files found for a mapping, some more than once */
	uint64_t unopened;	     /* mappings whose file could not be found */
	uint64_t descriptors_closed; /* closed past max_descriptors while they were of use */
	uint64_t not_begun;	     /* loads by table_cache_expect that were not begun */
};
extern const struct counters table_cache_counters;

/* has_loader: a loader's threads read files; otherwise a file is read when it is asked for. */
int table_cache_new(size_t max_bytes, bool has_loader, struct table_cache **ret);
void table_cache_free(struct table_cache *cache); /* NULL is legal */
/* Sets how tables of a kind are made, before the first table is asked for; kind is borrowed. */
void table_cache_set_kind(struct table_cache *cache, enum table_of of,
			  const struct table_kind *kind);

/*
 * Sets the limits of tables, and of files and mappings, which were max_bytes of table_cache_new and
 * none. If there is more, table_cache_step evicts tables, and the next new mapping makes room.
 */
void table_cache_set_limits(struct table_cache *cache, size_t max_bytes, size_t max_file_bytes);

/* So many tables may wait to be loaded; for tests. */
void table_cache_set_max_jobs(struct table_cache *cache, size_t max_jobs);

/*
 * Sets how to find the owner of a process. Without this each process is an owner.
 */
void table_cache_set_owner(struct table_cache *cache, owner_fn owner, void *arg);

/* Finds and holds the file behind a mapping of process pid if it is not known yet. */
void table_cache_see(struct table_cache *cache, pid_t pid, const struct mapping *mapping);
/*
 * As table_cache_see, and has the loader load the file's tables ahead of need, but for kinds that
 * are on demand.
 */
void table_cache_expect(struct table_cache *cache, pid_t pid, const struct mapping *mapping);

/*
 * Sets how many loads may begin until the next call. A table that needs a further load is answered
 * by NULL and "put off", which is not remembered. Without this limit a process with large files,
 * whose tables are evicted and read again, could cause a load for every frame of a stack.
 */
void table_cache_allow(struct table_cache *cache, unsigned int loads);
/*
 * Sets whether the caller is ready to ask again; true at first. For a caller that is not, a table
 * that is being loaded is counted as put off, not as missing.
 */
void table_cache_be_patient(struct table_cache *cache, bool is_patient);
bool table_cache_is_patient(const struct table_cache *cache);
/* A count of "still loading" answers to a patient caller. */
uint64_t table_cache_missing(const struct table_cache *cache);
/* A count of answers that were put off, of all kinds of tables. */
uint64_t table_cache_put_off(const struct table_cache *cache);
/* A count of loads that have ended, of all kinds of tables. */
uint64_t table_cache_loads(const struct table_cache *cache);
/* Whether a load goes on that is not stuck. */
bool table_cache_gets_on(const struct table_cache *cache);

/* How long an answer holds that there is no table. */
enum table_answer {
	TABLE_ANSWER_STAYS,
	TABLE_ANSWER_PASSES, /* there may be one soon: no answer, no descriptor */
	TABLE_ANSWER_LATE,   /* there will be a table later, and the answer counts as put off */
};

/* A source that answers table_cache_find in the place of files. *ret_answer is set before. */
struct table_source {
	void *(*find)(void *arg, enum table_of of, pid_t pid, const struct mapping *mapping,
		      const char **ret_reason, enum table_answer *ret_answer);
	void *arg;
};

/* Sets the source that answers from now on; borrowed. No file is opened then. */
void table_cache_set_source(struct table_cache *cache, const struct table_source *source);

/*
 * A table of the file behind a mapping of process pid. The table is borrowed until
 * table_cache_step, or without a loader until the next call. NULL: there is no table, and
 * *ret_reason is a short static text ("no file", "file is gone", "not the mapped file", "no ELF",
 * ...).
 */
void *table_cache_find(struct table_cache *cache, enum table_of of, pid_t pid,
		       const struct mapping *mapping, const char **ret_reason);

/* Whether the last answer of table_cache_find was that there is no table, and does not stay. */
bool table_cache_answer_passes(const struct table_cache *cache);

/*
 * A descriptor (O_PATH) of the file of which the mapping's tables are made, for the caller to
 * close. /proc/self/fd/N of it leads to the file whatever its names lead to. -ENOENT: the file was
 * not found, or cannot be found again; -ESTALE: the file has changed since, or the process is gone;
 * -ENOMEM; an error of fcntl(2).
 */
int table_cache_dup_file(struct table_cache *cache, pid_t pid, const struct mapping *mapping);

/*
 * Takes tables from the loader, and sees to its threads, so call it every second. True if it took
 * any: borrowed tables are then no longer valid.
 */
bool table_cache_step(struct table_cache *cache);
/* Readable when table_cache_step has something to do; -1 without a loader. */
int table_cache_fd(const struct table_cache *cache);

/* Forgets the mappings of a process that is gone; tables stay for other processes. */
void table_cache_forget(struct table_cache *cache, pid_t pid);

void table_cache_stats(const struct table_cache *cache, struct table_cache_stats *ret);
void table_cache_table_stats(const struct table_cache *cache, enum table_of of,
			     struct table_stats *ret);

#endif
