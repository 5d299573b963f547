// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the JVM's flag PreserveFramePointer, which is found and switched on
 * units:   none
 * threads: Agent_OnLoad only: later the JVM has generated code without frame pointers
 * errors:  FLAGS_FP_UNKNOWN if the JVM does not show its flags; nothing is written then
 * source:  hotspot/share/runtime/flags/jvmFlag.hpp (JDK 8: runtime/globals.hpp, struct Flag)
 */
#ifndef FGAGENT_FLAGS_H
#define FGAGENT_FLAGS_H

#include "hotspot/vmstructs.h"
#include "options.h"

enum flags_fp {
	FLAGS_FP_UNKNOWN, /* the flag was not found */
	FLAGS_FP_LEFT,	  /* off, and not changed */
	FLAGS_FP_WAS_ON,
	FLAGS_FP_SET, /* switched on by the agent */
};

enum flags_fp flags_set_framepointer(const struct vmstructs *vm, enum options_framepointer mode);

#endif
