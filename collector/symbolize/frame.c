// SPDX-License-Identifier: Apache-2.0
/* Frame kinds as suffixes and as words, see frame.h. */
#include "symbolize/frame.h"

#include <string.h>

static const char *const words[FRAME_KINDS] = {
	[FRAME_LABEL] = "label",
	[FRAME_INTERPRETED] = "interpreted",
	[FRAME_C1] = "c1",
	[FRAME_JIT] = "jit",
	[FRAME_INLINED] = "inlined",
	[FRAME_NATIVE_WRAPPER] = "wrapper",
	[FRAME_STUB] = "stub",
	[FRAME_JVM] = "jvm",
	[FRAME_NATIVE] = "native",
	[FRAME_KERNEL] = "kernel",
	[FRAME_UNKNOWN] = "unknown",
	[FRAME_JAVA] = "java",
	[FRAME_NATIVE_INLINED] = "native_inlined",
	[FRAME_WAIT] = "wait",
	[FRAME_CLASS] = "class",
};

const char *frame_kind_suffix(enum frame_kind kind)
{
	switch (kind) {
	case FRAME_INTERPRETED:
		return "_[0]";
	case FRAME_C1:
		return "_[1]";
	case FRAME_JIT:
	case FRAME_NATIVE_WRAPPER:
		return "_[j]";
	case FRAME_INLINED:
	case FRAME_NATIVE_INLINED:
		return "_[i]";
	case FRAME_KERNEL:
		return "_[k]";
	case FRAME_WAIT:
		return "_[w]";
	case FRAME_CLASS:
		return "_[c]";
	case FRAME_LABEL:
	case FRAME_STUB:
	case FRAME_JVM:
	case FRAME_NATIVE:
	case FRAME_UNKNOWN:
	case FRAME_JAVA:
	case FRAME_KINDS:
		break;
	}
	return "";
}

const char *frame_kind_word(enum frame_kind kind)
{
	return kind < FRAME_KINDS && words[kind] ? words[kind] : "native";
}

enum frame_kind frame_kind_of_word(const char *word)
{
	for (int i = 0; i < FRAME_KINDS; i++) {
		if (words[i] && strcmp(words[i], word) == 0)
			return (enum frame_kind)i;
	}
	return FRAME_KINDS;
}

bool frame_kind_is_inlined(enum frame_kind kind)
{
	return kind == FRAME_INLINED || kind == FRAME_NATIVE_INLINED;
}

bool frame_kind_is_java(enum frame_kind kind)
{
	return kind == FRAME_INTERPRETED || kind == FRAME_C1 || kind == FRAME_JIT ||
	       kind == FRAME_INLINED || kind == FRAME_NATIVE_WRAPPER || kind == FRAME_JAVA;
}
