// SPDX-License-Identifier: Apache-2.0
/* Shares the places of a short list, see jvm_share.h. */
#include "inspect/jvm_share.h"

#include "base/map64.h"
#include "guard/fair.h"

#include <errno.h>
#include <stdlib.h>

/* Counts how many JVMs each group has. -ENOMEM */
static int count_groups(const struct process *const *jvms, size_t count, struct map64 *ret)
{
	for (size_t i = 0; i < count; i++) {
		const uint64_t group = owner_group(jvms[i]->owner);
		const uintptr_t has = (uintptr_t)map64_find(ret, group) + 1;

		if (map64_put(ret, group, (void *)has) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* How many JVMs each group may show, at least 1. */
static uint64_t level_of(const struct map64 *groups, size_t most)
{
	uint64_t *wants = calloc(groups->count + 1, sizeof(*wants)), group, level;
	size_t pos = 0, n = 0;
	void *has;

	if (!wants)
		return 1;
	while (map64_next(groups, &pos, &group, &has))
		wants[n++] = (uintptr_t)has;
	level = fair_level(wants, n, most);
	free(wants);
	return level > 0 ? level : 1;
}

size_t jvm_share_keep(const struct process **jvms, size_t count, size_t most)
{
	struct map64 groups = {0};
	uint64_t level = 1;
	size_t kept = 0;

	if (count <= most)
		return count;
	if (count_groups(jvms, count, &groups) == 0)
		level = level_of(&groups, most);
	map64_fini(&groups);
	for (size_t i = 0; i < count && kept < most; i++) {
		const uint64_t group = owner_group(jvms[i]->owner);
		const uintptr_t shown = (uintptr_t)map64_find(&groups, group);

		if (shown >= level || map64_put(&groups, group, (void *)(shown + 1)) < 0)
			continue;
		jvms[kept++] = jvms[i];
	}
	map64_fini(&groups);
	return kept;
}
