// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a JVM's new code: its load event, and the facts of its nmethod
 * units:   bytes
 * threads: compile_info is valid only inside the callback
 * errors:  none
 * source:  JVMTI CompiledMethodLoad; nmethods.h
 */
#ifndef FGAGENT_METHODS_LOADED_CODE_H
#define FGAGENT_METHODS_LOADED_CODE_H

#include "shared/wire.h"

#include <jvmti.h>
#include <stdint.h>

struct loaded_code {
	jmethodID method;
	const void *addr;
	uint32_t size;
	uint8_t level, kind; /* with the values of the METHOD_LOAD record */
	struct wire_frame frame;
	const void *compile_info; /* borrowed from the JVM */
};

#endif
