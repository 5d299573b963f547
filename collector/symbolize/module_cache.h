// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's mapping -> symbols of the file behind it, shared between processes
 * units:   bytes, elf_addr
 * threads: as files/table_cache.h; what is found is used by the thread that asked
 * errors:  NULL with a reason text; nothing here ends the run
 * source:  as files/table_cache.h
 *
 * The table cache's symbols: see there for how files are found and kept.
 */
#ifndef FG_SYMBOLIZE_MODULE_CACHE_H
#define FG_SYMBOLIZE_MODULE_CACHE_H

#include "files/table_cache.h"
#include "symbolize/elf_symbols.h"

/* From here on tables can be asked for. */
void module_cache_attach(struct table_cache *tables);

/*
 * Symbols of the file behind a mapping of process pid, borrowed as table_cache_find says, or NULL
 * and *ret_reason, a short static text ("no file", "file is gone", "not the mapped file", "no ELF",
 * "still loading", ...).
 */
struct elf_symbols *module_cache_find(struct table_cache *tables, pid_t pid,
				      const struct mapping *mapping, const char **ret_reason);

#endif
