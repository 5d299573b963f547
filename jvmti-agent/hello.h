// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what is known of this JVM -> the HELLO record
 * units:   bytes; times in nanoseconds
 * threads: filled before the agent's thread starts, then read by that alone
 * errors:  what cannot be read is left out; longer text than its room is cut
 * source:  shared/README.md, HELLO; proc(5) cmdline; gethostname(2)
 *
 * The environment is copied at load, since the application may change its own later.
 */
#ifndef FGAGENT_HELLO_H
#define FGAGENT_HELLO_H

#include "flags.h"
#include "options.h"
#include "shared/wire.h"
#include "hotspot/vmstructs.h"

#include <jvmti.h>

#define HELLO_MAX_BYTES	 (64u << 10)
#define HELLO_ENV_COUNT	 4
#define HELLO_TEXT_BYTES 2048

struct hello {
	uint64_t loaded_ns;
	const struct options *options;
	const struct vmstructs *vm;
	bool vmstructs_found;
	enum flags_fp framepointer;
	char jvm_name[128], jvm_version[128], jvm_vendor[128];
	char java_command[HELLO_TEXT_BYTES];
	char env[HELLO_ENV_COUNT][HELLO_TEXT_BYTES];
};

/* From Agent_OnLoad: borrows options and vm for good, copies the environment. */
void hello_init(struct hello *hello, const struct options *options, const struct vmstructs *vm);
/* From Agent_OnLoad and again from VMInit, by when all properties are there. */
void hello_read_properties(struct hello *hello, jvmtiEnv *jvmti);

/* Appends the record as of now; false if the buffer is too small. */
bool hello_encode(const struct hello *hello, struct wire_buf *buf);

#endif
