// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a frame -> one of a few kinds, each with an entry in the legend and a colour
 * units:   RGB, 8 bits a channel
 * threads: any
 * errors:  none
 * source:  the colours of async-profiler and FlameGraph: Java green, C++ yellow, kernel orange,
 *          native red; WCAG 2.1 for contrast: black text on each colour has at least 4.5:1
 */
#ifndef FG_RENDER_KINDS_H
#define FG_RENDER_KINDS_H

#include "symbolize/frame.h"

#include <stdint.h>

#define KIND_SHADES 8u

enum kind {
	KIND_LABEL,
	KIND_INTERPRETED,
	KIND_C1,
	KIND_JIT,
	KIND_INLINED,
	KIND_STUB,
	KIND_CPP, /* libjvm, and C++ in any file */
	KIND_NATIVE,
	KIND_KERNEL,
	KIND_UNKNOWN,
	KIND_JAVA, /* a Java method of unknown level */
	KIND_WAIT, /* a thread that does not run */
	KIND_CLASS,
	KINDS,
};

enum kind kind_of(enum frame_kind kind, const char *name);
const char *kind_title(enum kind kind); /* text in the legend */
uint32_t kind_rgb(enum kind kind, unsigned shade);
/* A number below KIND_SHADES, always the same for a name. */
unsigned kind_shade_of(const char *name);

#endif
