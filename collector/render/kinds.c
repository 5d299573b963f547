// SPDX-License-Identifier: Apache-2.0
/*
 * Kinds and their colours, see kinds.h. Any two colours are at least 9 apart (CIEDE2000), also for
 * eyes with two sorts of cones, and black letters on each have a contrast of at least 4.5. The
 * colours were found by a search for the greatest least difference; tests/browser/test_palette.py
 * checks them.
 */
#include "render/kinds.h"

#include <string.h>

#define SHADE_STEP 2 /* for each channel */

struct kind_style {
	const char *title;
	uint8_t rgb[3]; /* of the darkest shade */
};

static const struct kind_style styles[KINDS] = {
	[KIND_LABEL] = {"thread, process, note", {212, 209, 206}},
	[KIND_INTERPRETED] = {"Java, interpreted", {220, 237, 202}},
	[KIND_C1] = {"Java, compiled (C1)", {188, 239, 152}},
	[KIND_JIT] = {"Java, compiled", {49, 163, 72}},
	[KIND_INLINED] = {"Java, inlined", {112, 209, 232}},
	[KIND_STUB] = {"generated stub", {151, 149, 233}},
	[KIND_CPP] = {"JVM and C++", {237, 225, 79}},
	[KIND_NATIVE] = {"native", {231, 147, 151}},
	[KIND_KERNEL] = {"kernel", {242, 72, 24}},
	[KIND_UNKNOWN] = {"unknown", {132, 125, 130}},
	[KIND_JAVA] = {"Java", {99, 137, 102}},
	[KIND_WAIT] = {"waiting", {114, 114, 156}},
	[KIND_CLASS] = {"class of the object or lock", {128, 173, 178}},
};

enum kind kind_of(enum frame_kind kind, const char *name)
{
	switch (kind) {
	case FRAME_INTERPRETED:
		return KIND_INTERPRETED;
	case FRAME_C1:
		return KIND_C1;
	case FRAME_JIT:
	case FRAME_NATIVE_WRAPPER:
		return KIND_JIT;
	case FRAME_INLINED:
		return KIND_INLINED;
	case FRAME_STUB:
		return KIND_STUB;
	case FRAME_JVM:
		return KIND_CPP;
	case FRAME_NATIVE:
	case FRAME_NATIVE_INLINED:
		return strstr(name, "::") ? KIND_CPP : KIND_NATIVE;
	case FRAME_KERNEL:
		return KIND_KERNEL;
	case FRAME_UNKNOWN:
		return KIND_UNKNOWN;
	case FRAME_JAVA:
		return KIND_JAVA;
	case FRAME_WAIT:
		return KIND_WAIT;
	case FRAME_CLASS:
		return KIND_CLASS;
	case FRAME_LABEL:
	case FRAME_KINDS:
		break;
	}
	return KIND_LABEL;
}

const char *kind_title(enum kind kind)
{
	return styles[kind].title;
}

uint32_t kind_rgb(enum kind kind, unsigned shade)
{
	uint32_t rgb = 0;

	for (int i = 0; i < 3; i++) {
		const uint32_t channel = styles[kind].rgb[i] + SHADE_STEP * shade;

		rgb = rgb << 8 | (channel < 255 ? channel : 255);
	}
	return rgb;
}

unsigned kind_shade_of(const char *name)
{
	uint32_t hash = UINT32_C(2166136261); /* offset basis of FNV-1a */

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT32_C(16777619);
	return (hash ^ hash >> 15) % KIND_SHADES;
}
