// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the readers of import share: lines of a format -> the target
 * units:   as import.h
 * threads: as import.h
 * errors:  as import.h
 * source:  none
 */
#ifndef FG_IMPORT_READERS_H
#define FG_IMPORT_READERS_H

#include "import/import_options.h"
#include "import/import_target.h"
#include "import/lines.h"

/* What a file's first bytes look like; *ret_reason says it where that is IMPORT_UNREADABLE. */
enum import_format detect_format(const char *data, size_t len, const char **ret_reason);

int folded_read(struct lines *lines, struct import_target *target);
int perf_read(struct lines *lines, const struct import_options *options,
	      struct import_target *target);

#endif
