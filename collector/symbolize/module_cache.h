// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's mapping -> the symbol table of the file behind it, shared between processes
 * units:   bytes, elf_addr
 * threads: those of files/table_cache.h; a table is used by the thread that asked
 * errors:  NULL with a reason
 * source:  that of files/table_cache.h
 *
 * Symbol tables in the table cache: files/table_cache.h says how files are found and kept.
 */
#ifndef FG_SYMBOLIZE_MODULE_CACHE_H
#define FG_SYMBOLIZE_MODULE_CACHE_H

#include "files/table_cache.h"
#include "symbolize/elf_symbols.h"

/* The parser of symbol tables, a parser_fn. */
void module_cache_parse(int sock);

/* Registers symbol tables with the table cache. Call it before module_cache_find. */
void module_cache_attach(struct table_cache *tables);

/*
 * The symbol table of the file behind a mapping of process pid, borrowed as table_cache_find says.
 * NULL: *ret_reason is a short static text ("no file", "file is gone", "not the mapped file", "no
 * ELF", "still loading", ...).
 */
struct elf_symbols *module_cache_find(struct table_cache *tables, pid_t pid,
				      const struct mapping *mapping, const char **ret_reason);

#endif
