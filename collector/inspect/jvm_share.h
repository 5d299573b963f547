// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   many JVMs -> those that a short list shows
 * units:   JVMs
 * threads: any
 * errors:  without memory fewer JVMs are kept
 * source:  none
 *
 * Containers, and users of the host, share the places (guard/fair.h). So nobody's many JVMs keep
 * the JVMs of others out of a list.
 */
#ifndef FG_INSPECT_JVM_SHARE_H
#define FG_INSPECT_JVM_SHARE_H

#include "process/process.h"

/*
 * Keeps at most so many of the JVMs, in their order, and returns the number of those kept. Of each
 * owner the first ones are kept.
 */
size_t jvm_share_keep(const struct process **jvms, size_t count, size_t most);

#endif
