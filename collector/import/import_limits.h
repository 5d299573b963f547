// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the limits of what is read from a file of any format
 * units:   bytes, frames, nodes
 * threads: any
 * errors:  none; what goes past a limit is counted and reported, see import_report.h
 * source:  none
 */
#ifndef FG_IMPORT_IMPORT_LIMITS_H
#define FG_IMPORT_IMPORT_LIMITS_H

#include <stddef.h>

#define IMPORT_MAX_LINE	       ((size_t)16 << 20)
#define IMPORT_MAX_NAME	       ((size_t)64 << 10)
#define IMPORT_MAX_DEPTH       ((size_t)16 << 10)
#define IMPORT_MAX_NODES       16000000u
#define IMPORT_MAX_NAMES_BYTES ((size_t)1 << 30) /* of all names together; past it -EFBIG */

#endif
