// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   build IDs of files without symbols -> symbols from the user's debuginfod servers
 * units:   nanoseconds
 * threads: the model's, and one of its own that waits for the servers
 * errors:  negative errno; a file that no server knows keeps the names it has
 * source:  debuginfod_find_debuginfo(3), dlopen(3)
 *
 * Only where the user has set DEBUGINFOD_URLS, and libdebuginfod.so.1 is there: it is no dependency
 * but opened at run time. The model never waits: it asks, goes on with the names there are, and
 * takes the better ones when they have come. A file is asked for once; at most
 * DEBUGINFOD_MAX_FILES are, each for DEBUGINFOD_MAX_SECONDS.
 */
#ifndef FG_SYMBOLIZE_DEBUGINFOD_H
#define FG_SYMBOLIZE_DEBUGINFOD_H

#include "symbolize/elf_symbols.h"

#define DEBUGINFOD_MAX_FILES   256
#define DEBUGINFOD_MAX_SECONDS 60

struct debuginfod; /* opaque */

struct debuginfod_stats {
	uint64_t asked, found, failed;
	uint64_t left_out; /* past DEBUGINFOD_MAX_FILES */
};

/* -ENOENT: the user has not asked for it; -ELIBACC: the library is missing. */
int debuginfod_start(struct debuginfod **ret);
void debuginfod_stop(struct debuginfod *debuginfod); /* NULL is legal */

/* Asks for a table that has exports at most, or gives it what has come since. NULL is legal. */
void debuginfod_improve(struct debuginfod *debuginfod, struct elf_symbols *symbols);

void debuginfod_stats(struct debuginfod *debuginfod, struct debuginfod_stats *ret);

#endif
