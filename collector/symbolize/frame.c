// SPDX-License-Identifier: Apache-2.0
/* Frame kinds as suffixes, see frame.h. */
#include "symbolize/frame.h"

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
