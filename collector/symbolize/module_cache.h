// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's mapping -> symbols of the file behind it, shared between processes
 * units:   bytes, elf_addr
 * threads: one at a time
 * errors:  NULL with a reason text; nothing here ends the run
 * source:  proc(5) root and map_files, openat2(2), vdso(7)
 *
 * The table cache of symbols: see elf/table_cache.h for how files are found and kept.
 */
#ifndef FG_SYMBOLIZE_MODULE_CACHE_H
#define FG_SYMBOLIZE_MODULE_CACHE_H

#include "symbolize/elf_symbols.h"
#include "target/address_space.h"

#include <sys/types.h>

struct module_cache; /* opaque */

struct module_cache_stats {
	size_t modules;	  /* tables, the vDSO's included */
	size_t failed;	  /* mappings remembered as unreadable */
	size_t bytes;	  /* of tables */
	uint64_t loads;	  /* files read */
	uint64_t hits;	  /* answers without a system call */
	uint64_t evicted; /* tables dropped because of max_bytes */
};

int module_cache_new(size_t max_bytes, struct module_cache **ret);
void module_cache_free(struct module_cache *cache); /* NULL is legal */

/*
 * Symbols of the file behind a mapping of process pid, borrowed until the next call, or NULL and
 * *ret_reason, a short static text ("no file", "file is gone", "not the mapped file", "no ELF",
 * ...).
 */
struct elf_symbols *module_cache_find(struct module_cache *cache, pid_t pid,
				      const struct mapping *mapping, const char **ret_reason);
/* The process is gone: what was remembered for its mappings may go, tables stay for others. */
void module_cache_forget(struct module_cache *cache, pid_t pid);
void module_cache_stats(const struct module_cache *cache, struct module_cache_stats *ret);

#endif
