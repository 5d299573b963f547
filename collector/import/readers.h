// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the readers of line formats, and what they share: lines -> the target
 * units:   those of import.h
 * threads: those of import.h
 * errors:  those of import.h
 * source:  none
 */
#ifndef FG_IMPORT_READERS_H
#define FG_IMPORT_READERS_H

#include "import/import_options.h"
#include "import/import_target.h"
#include "import/lines.h"

/*
 * The format that a file's first bytes have. For IMPORT_UNREADABLE, *ret_reason says what the file
 * looks like.
 */
enum import_format detect_format(const char *data, size_t len, const char **ret_reason);

int folded_read(struct lines *lines, struct import_target *target);
int perf_read(struct lines *lines, const struct import_options *options,
	      struct import_target *target);

#endif
