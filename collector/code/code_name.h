// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a code range, or the methods inlined at a place in it -> the name in perf's style
 * units:   bytes; lines count from 1
 * threads: any
 * errors:  none; a range or method without a name is "[unnamed]"
 * source:  linux tools/perf/Documentation/jit-interface.txt, perf_map_style.h
 *
 * A method is called "Ljava/lang/String;::hashCode", a stub by its plain name. A stub's name of
 * less than three bytes gets "()" behind it, because perf skips names that short. Control
 * characters become '?'. In a name that is too long the signature and the file are cut first, to a
 * quarter of the room each, then the class. Perf maps and jitdumps have equal names, unless a user
 * chooses another style for perf maps.
 */
#ifndef FG_CODE_CODE_NAME_H
#define FG_CODE_CODE_NAME_H

#include "code/code_map.h"
#include "code/perf_map_style.h"

#define CODE_NAME_CUT_BYTES 512			      /* a longer name is cut */
#define CODE_NAME_MAX_BYTES (CODE_NAME_CUT_BYTES + 2) /* the room that a name needs */

struct code_name_method {
	const char *class_name;	 /* java/lang/String */
	const char *name;	 /* NULL or "": unnamed */
	const char *signature;	 /* NULL: not known */
	const char *source_file; /* NULL: not known */
	uint32_t line;		 /* the method's first line; 0: not known */
};

/*
 * All functions write the name into ret, which has room for CODE_NAME_MAX_BYTES, do not terminate
 * it, and return its length.
 */
size_t code_name(const struct code_range *range, char *ret);
size_t code_name_styled(const struct perf_map_style *style, const struct code_range *range,
			char *ret);

/*
 * The name of a place in a compiled method. frames are the methods inlined at the place, innermost
 * first, and last the compiled method itself, so count is at least 1. If the stack of unfoldall is
 * too long, "..." stands for its middle.
 */
size_t code_name_unfolded(const struct perf_map_style *style, const struct code_name_method *frames,
			  size_t count, char *ret);

#endif
