// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   build IDs of files without symbols -> symbol tables from the user's debuginfod servers
 * units:   nanoseconds
 * threads: the model's, and one thread here that waits for the servers
 * errors:  negative errno; a file that no server knows keeps its names
 * source:  debuginfod_find_debuginfo(3), dlopen(3)
 *
 * Used only if the user has set DEBUGINFOD_URLS and libdebuginfod.so.1 can be opened at run time;
 * the library is no dependency. The model's thread never waits for a server: it asks, uses the
 * names that there are, and takes the better table when it has come. Each file is asked for once,
 * for at most DEBUGINFOD_MAX_SECONDS, and at most DEBUGINFOD_MAX_FILES files are asked for. Past
 * that one is forgotten of the container or user that has asked for the most, whose new tables stay
 * without it; who has asked for the fewest is answered first.
 */
#ifndef FG_SYMBOLIZE_DEBUGINFOD_H
#define FG_SYMBOLIZE_DEBUGINFOD_H

#include "base/counters.h"
#include "symbolize/elf_symbols.h"

#define DEBUGINFOD_MAX_FILES   256
#define DEBUGINFOD_MAX_SECONDS 60

struct debuginfod; /* opaque */

struct debuginfod_stats {
	uint64_t asked, found, failed;
	uint64_t left_out;  /* files beyond DEBUGINFOD_MAX_FILES */
	uint64_t forgotten; /* files that made room for those of others */
};
extern const struct counters debuginfod_counters;

/* The parser of files from servers, a parser_fn. */
void debuginfod_parse(int sock);

/* -ENOENT: DEBUGINFOD_URLS is not set; -ELIBACC: the library is missing. */
int debuginfod_start(struct debuginfod **ret);
void debuginfod_stop(struct debuginfod *debuginfod); /* NULL is legal */

/*
 * If symbols has no better source than .dynsym, asks the servers for the file, or adds to symbols
 * the table that has come since. group: of the owner of the process that has mapped the file.
 * debuginfod NULL: does nothing.
 */
void debuginfod_improve(struct debuginfod *debuginfod, struct elf_symbols *symbols, uint64_t group);
/* So many files, DEBUGINFOD_MAX_FILES at most; for tests. */
void debuginfod_set_max_files(struct debuginfod *debuginfod, size_t max_files);

void debuginfod_stats(struct debuginfod *debuginfod, struct debuginfod_stats *ret);

#endif
