// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the JVM's flag PreserveFramePointer, found and switched on
 * units:   none
 * threads: Agent_OnLoad only: afterwards the JVM has generated code and it is too late
 * errors:  FLAGS_FP_UNKNOWN when the JVM does not show its flags; nothing is written then
 * source:  hotspot/share/runtime/flags/jvmFlag.hpp (JDK 8: runtime/globals.hpp, struct Flag)
 */
#ifndef FGAGENT_FLAGS_H
#define FGAGENT_FLAGS_H

#include "options.h"
#include "hotspot/vmstructs.h"

enum flags_fp {
	FLAGS_FP_UNKNOWN, /* no such flag to be found */
	FLAGS_FP_LEFT,	  /* off and left so */
	FLAGS_FP_WAS_ON,
	FLAGS_FP_SET, /* switched on by us */
};

enum flags_fp flags_set_framepointer(const struct vmstructs *vm, enum options_framepointer mode);

#endif
