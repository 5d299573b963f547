// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a code range, or what was inlined at a place in one -> the name by which perf's users
 *          know it
 * units:   bytes, line counts from 1
 * threads: any
 * errors:  none; what has no name is "[unnamed]"
 * source:  linux tools/perf/Documentation/jit-interface.txt, perf_map_style.h
 *
 * "Ljava/lang/String;::hashCode" for methods, the plain name for stubs, with "()" behind it where
 * it has less than three bytes, because perf skips those; controls become '?'. Of a name that is
 * too long signature and file give way first, to a quarter of the room each, then the class. Perf
 * maps and jitdumps have the same names, but for the style that a user may choose for perf maps.
 */
#ifndef FG_CODE_CODE_NAME_H
#define FG_CODE_CODE_NAME_H

#include "code/code_map.h"
#include "code/perf_map_style.h"

#define CODE_NAME_CUT_BYTES 512			      /* what is left of a long one */
#define CODE_NAME_MAX_BYTES (CODE_NAME_CUT_BYTES + 2) /* the room that one needs */

struct code_name_method {
	const char *class_name;	 /* java/lang/String */
	const char *name;	 /* NULL or "": unnamed */
	const char *signature;	 /* NULL: not known */
	const char *source_file; /* NULL: not known */
	uint32_t line;		 /* the method's first; 0: not known */
};

/* Into ret, CODE_NAME_MAX_BYTES, not terminated; all return the name's length. */
size_t code_name(const struct code_range *range, char *ret);
size_t code_name_styled(const struct perf_map_style *style, const struct code_range *range,
			char *ret);

/*
 * The name of a place in a method: frames are what is inlined there, innermost first, and last the
 * method itself; there is at least that one. Where the stack of unfoldall is too long, "..." stands
 * for its middle.
 */
size_t code_name_unfolded(const struct perf_map_style *style, const struct code_name_method *frames,
			  size_t count, char *ret);

#endif
