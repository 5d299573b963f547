// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's mapping -> unwind rules of the file behind it, shared between processes
 * units:   bytes
 * threads: one at a time
 * errors:  NULL with a reason text; nothing here ends the run
 * source:  proc(5) root and map_files, openat2(2), vdso(7)
 *
 * The table cache of unwind rules: see elf/table_cache.h for how files are found and kept.
 */
#ifndef FG_ELF_CFI_CACHE_H
#define FG_ELF_CFI_CACHE_H

#include "elf/cfi_table.h"
#include "target/address_space.h"

#include <sys/types.h>

struct cfi_cache; /* opaque */

struct cfi_cache_stats {
	size_t tables;	  /* the vDSO's included */
	size_t failed;	  /* mappings remembered as unreadable */
	size_t bytes;	  /* of tables */
	uint64_t loads;	  /* files read */
	uint64_t hits;	  /* answers without a system call */
	uint64_t evicted; /* tables dropped because of max_bytes */
	uint64_t put_off; /* answers that would have taken more loads than were allowed */
};

int cfi_cache_new(size_t max_bytes, struct cfi_cache **ret);
void cfi_cache_free(struct cfi_cache *cache); /* NULL is legal */

/* See table_cache_allow. Without a call there is no bound. */
void cfi_cache_allow(struct cfi_cache *cache, unsigned int loads);
/*
 * Unwind rules of the file behind a mapping of process pid, borrowed until the next call, or NULL
 * and *ret_reason, a short static text ("no file", "file is gone", "not the mapped file", "no ELF",
 * "no unwind rules", ...).
 */
const struct cfi_table *cfi_cache_find(struct cfi_cache *cache, pid_t pid,
				       const struct mapping *mapping, const char **ret_reason);
/* The process is gone: what was remembered for its mappings may go, tables stay for others. */
void cfi_cache_forget(struct cfi_cache *cache, pid_t pid);
void cfi_cache_stats(const struct cfi_cache *cache, struct cfi_cache_stats *ret);

#endif
