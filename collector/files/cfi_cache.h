// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's mapping -> the unwind table of its file, shared between processes
 * units:   bytes
 * threads: as files/table_cache.h
 * errors:  NULL with a reason text; nothing here ends the run
 * source:  as files/table_cache.h
 *
 * Unwind tables are one kind of table of struct table_cache, which finds and keeps the files.
 */
#ifndef FG_FILES_CFI_CACHE_H
#define FG_FILES_CFI_CACHE_H

#include "elf/cfi_table.h"
#include "files/table_cache.h"

/* The parser of unwind tables, a parser_fn. */
void cfi_cache_parse(int sock);

/* Adds unwind tables to the table cache. Must be called before cfi_cache_find. */
void cfi_cache_attach(struct table_cache *tables);

/*
 * The unwind table of the file behind a mapping of process pid, borrowed as from table_cache_find.
 * NULL: there is no table, and *ret_reason is a short static text ("no file", "file is gone", "not
 * the mapped file", "no ELF", "no unwind rules", "still loading", ...).
 */
const struct cfi_table *cfi_cache_find(struct table_cache *tables, pid_t pid,
				       const struct mapping *mapping, const char **ret_reason);

#endif
