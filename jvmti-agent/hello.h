// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the facts of this JVM -> the HELLO record
 * units:   bytes; times in nanoseconds
 * threads: filled before the agent's thread starts, then read by the agent's thread alone
 * errors:  a fact that cannot be read is left out; a text longer than its room is cut
 * source:  shared/README.md, HELLO; proc(5) cmdline; gethostname(2)
 *
 * The environment is copied when the agent is loaded, because the application may change it later.
 */
#ifndef FGAGENT_HELLO_H
#define FGAGENT_HELLO_H

#include "flags.h"
#include "hotspot/vmstructs.h"
#include "options.h"
#include "shared/wire.h"

#include <jvmti.h>

#define HELLO_MAX_BYTES	 (64u << 10)
#define HELLO_ENV_COUNT	 4
#define HELLO_TEXT_BYTES 2048

struct hello {
	uint64_t loaded_ns;
	const struct options *options;
	const struct vmstructs *vm;
	bool vmstructs_found;
	bool offers_alloc, offers_lock; /* probes */
	enum flags_fp framepointer;
	char jvm_name[128], jvm_version[128], jvm_vendor[128];
	char java_command[HELLO_TEXT_BYTES];
	size_t java_jar_len; /* bytes at the start of java_command that are a jar's path, or 0 */
	char env[HELLO_ENV_COUNT][HELLO_TEXT_BYTES];
};

/*
 * Call it in Agent_OnLoad. Borrows options and vm for the life of the process; copies the
 * environment.
 */
void hello_init(struct hello *hello, const struct options *options, const struct vmstructs *vm);
/* Call it in Agent_OnLoad and again in VMInit, when all properties are set. */
void hello_read_properties(struct hello *hello, jvmtiEnv *jvmti);

/* Appends the HELLO record with the current facts; false if the buffer is too small. */
bool hello_encode(const struct hello *hello, struct wire_buf *buf);

#endif
