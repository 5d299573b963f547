// SPDX-License-Identifier: Apache-2.0
/* Keeps which processes have been told of, see announced.h. */
#include "serve/announced.h"

/* A value of the map is not NULL. */
static void *value_of(uint64_t start_ticks)
{
	return (void *)(uintptr_t)(start_ticks + 1);
}

bool announced_add(struct announced *announced, pid_t pid, uint64_t start_ticks)
{
	if (map64_find(&announced->starts, (uint64_t)pid) == value_of(start_ticks))
		return false;
	if (announced->starts.count >= ANNOUNCED_MAX)
		announced_fini(announced);
	map64_put(&announced->starts, (uint64_t)pid, value_of(start_ticks));
	return true;
}

void announced_remove(struct announced *announced, pid_t pid)
{
	map64_remove(&announced->starts, (uint64_t)pid);
}

void announced_fini(struct announced *announced)
{
	map64_fini(&announced->starts);
	*announced = (struct announced){0};
}
