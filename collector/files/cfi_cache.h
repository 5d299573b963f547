// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's mapping -> unwind rules of the file behind it, shared between processes
 * units:   bytes
 * threads: as files/table_cache.h
 * errors:  NULL with a reason text; nothing here ends the run
 * source:  as files/table_cache.h
 *
 * The table cache's unwind rules: see there for how files are found and kept.
 */
#ifndef FG_FILES_CFI_CACHE_H
#define FG_FILES_CFI_CACHE_H

#include "elf/cfi_table.h"
#include "files/table_cache.h"

/* From here on tables can be asked for. */
void cfi_cache_attach(struct table_cache *tables);

/*
 * Unwind rules of the file behind a mapping of process pid, borrowed as table_cache_find says, or
 * NULL and *ret_reason, a short static text ("no file", "file is gone", "not the mapped file", "no
 * ELF", "no unwind rules", "still loading", ...).
 */
const struct cfi_table *cfi_cache_find(struct table_cache *tables, pid_t pid,
				       const struct mapping *mapping, const char **ret_reason);

#endif
