// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a code range -> the name by which perf's users know it
 * units:   bytes
 * threads: any
 * errors:  none; a range without a name is "[unnamed]"
 * source:  linux tools/perf/Documentation/jit-interface.txt
 *
 * "Ljava/lang/String;::hashCode" for methods, the plain name for stubs, with "()" behind it where
 * it has less than three bytes, because perf skips those; controls become '?'. Of a name that is
 * too long the class gives way first. Perf maps and jitdumps have the same names.
 */
#ifndef FG_TARGET_CODE_NAME_H
#define FG_TARGET_CODE_NAME_H

#include "target/code_map.h"

#define CODE_NAME_CUT_BYTES 512				/* what is left of a long one */
#define CODE_NAME_MAX_BYTES (CODE_NAME_CUT_BYTES + 2) /* the room that one needs */

/* Into ret, CODE_NAME_MAX_BYTES, not terminated; returns its length. */
size_t code_name(const struct code_range *range, char *ret);

#endif
