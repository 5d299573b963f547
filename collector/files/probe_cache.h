// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's mapping -> where its file can be probed, shared between processes
 * units:   bytes
 * threads: as files/table_cache.h
 * errors:  NULL with a reason text; nothing here ends the run
 * source:  as files/table_cache.h
 *
 * Tables of probe points are one kind of table of struct table_cache. They are loaded on demand
 * alone: few files have points, and few recordings ask for them.
 */
#ifndef FG_FILES_PROBE_CACHE_H
#define FG_FILES_PROBE_CACHE_H

#include "elf/probe_notes.h"
#include "files/table_cache.h"

/* The parser of probe points, a parser_fn. */
void probe_cache_parse(int sock);

/* Adds tables of probe points to the table cache. Must be called before probe_cache_find. */
void probe_cache_attach(struct table_cache *tables);

/*
 * The probe points of the file behind a mapping of process pid, at least one, borrowed as from
 * table_cache_find. NULL: *ret_reason is a short static text ("no file", "no probe points", "probe
 * notes that lead nowhere", "still loading", ...). An event at a point is opened by a descriptor of
 * table_cache_dup_file.
 */
const struct probe_notes *probe_cache_find(struct table_cache *tables, pid_t pid,
					   const struct mapping *mapping, const char **ret_reason);

#endif
