// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   processes that a line of the log has told of -> whether another line is wanted
 * units:   none
 * threads: one at a time
 * errors:  without memory a process is told of again
 * source:  none
 *
 * The collector forgets a JVM without an agent when nobody records it any more, and knows it anew
 * when somebody does. It is the same JVM as before, and is told of once. A zero-filled struct is
 * valid and empty.
 */
#ifndef FG_SERVE_ANNOUNCED_H
#define FG_SERVE_ANNOUNCED_H

#include "base/map64.h"

#include <sys/types.h>

#define ANNOUNCED_MAX 65536 /* then all are forgotten */

struct announced {
	struct map64 starts; /* PID -> start_ticks of the process */
};

/* Notes the process. Returns whether it has not been told of. */
bool announced_add(struct announced *announced, pid_t pid, uint64_t start_ticks);
/* The process has ended. */
void announced_remove(struct announced *announced, pid_t pid);
void announced_fini(struct announced *announced);

#endif
