// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   JVMs of which there were samples -> how many they are, with those that have ended
 * units:   none
 * threads: the model's
 * errors:  without memory, or past SEEN_JVMS_MAX, a JVM is not remembered
 * source:  none
 */
#ifndef FG_SINKS_SEEN_JVMS_H
#define FG_SINKS_SEEN_JVMS_H

#include "process/process.h"

#define SEEN_JVMS_MAX 65536

/* A zero-filled struct is valid and empty. */
struct seen_jvms {
	struct map64 seen;
	size_t outside; /* those that were read from outside when they were first seen */
};

void seen_jvms_fini(struct seen_jvms *jvms);
/* Processes that are no JVM are ignored. */
void seen_jvms_add(struct seen_jvms *jvms, const struct process *process);
bool seen_jvms_has(const struct seen_jvms *jvms, const struct process *process);

#endif
