// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the JVM says of new code: its load event, and what its nmethod adds
 * units:   bytes
 * threads: inside the callback only, as far as compile_info goes
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
	uint8_t level, kind; /* as in the record */
	struct wire_frame frame;
	const void *compile_info; /* borrowed from the JVM */
};

#endif
