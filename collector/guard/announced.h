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
#ifndef FG_GUARD_ANNOUNCED_H
#define FG_GUARD_ANNOUNCED_H

#include "base/map64.h"

#include <sys/types.h>

#define ANNOUNCED_MAX 65536 /* then all are forgotten */

struct announced {
	struct map64 starts; /* PID -> start_ticks of the process */
};

/* A value of the map is not NULL. */
static inline void *announced_value(uint64_t start_ticks)
{
	return (void *)(uintptr_t)(start_ticks + 1);
}

static inline void announced_fini(struct announced *announced)
{
	map64_fini(&announced->starts);
	*announced = (struct announced){0};
}

/* Notes the process. Returns whether it has not been told of. */
static inline bool announced_add(struct announced *announced, pid_t pid, uint64_t start_ticks)
{
	void *const value = announced_value(start_ticks);

	if (map64_find(&announced->starts, (uint64_t)pid) == value)
		return false;
	if (announced->starts.count >= ANNOUNCED_MAX)
		announced_fini(announced);
	map64_put(&announced->starts, (uint64_t)pid, value);
	return true;
}

/* The process has ended. */
static inline void announced_remove(struct announced *announced, pid_t pid)
{
	map64_remove(&announced->starts, (uint64_t)pid);
}

#endif
