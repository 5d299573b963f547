// SPDX-License-Identifier: Apache-2.0
/* Finds out who a process belongs to, see owner.h. */
#include "guard/owner.h"

#include "base/array.h"
#include "base/file.h"
#include "base/hash.h"
#include "guard/subordinates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SUBUID_BYTES (64u << 10)

static struct subordinates subordinates;

void owner_read_subordinates(int root_fd)
{
	char *text = malloc(MAX_SUBUID_BYTES);

	/* Without the file no user has subordinate IDs. */
	if (text && file_read_small_at(root_fd, "etc/subuid", text, MAX_SUBUID_BYTES) <= 0)
		text[0] = '\0';
	if (text)
		subordinates_parse(&subordinates, text);
	free(text);
}

/*
 * The real user, who stays the same when a program is set-user-ID. The owner of the process's
 * directory in /proc would be root for each process that has itself not be dumped.
 */
static uint64_t real_user(pid_t pid)
{
	char path[32], text[4096];
	const char *line;
	unsigned uid;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (file_read_small(path, text, sizeof(text)) <= 0)
		return OWNER_NOBODY;
	line = strstr(text, "\nUid:");
	return line && sscanf(line, "\nUid: %u", &uid) == 1 ? uid : OWNER_NOBODY;
}

uint64_t owner_group(struct owner owner)
{
	return owner.container ? owner.container : hash_seed_mix(owner.user);
}

size_t owner_count_groups(uint64_t *groups, size_t n)
{
	size_t count = n > 0;

	qsort(groups, n, sizeof(*groups), array_by_u64);
	for (size_t i = 1; i < n; i++)
		count += groups[i] != groups[i - 1];
	return count;
}

struct owner owner_of_container(const char *container_id, size_t len)
{
	return (struct owner){.container =
				      quick_hash_text(quick_hash_seed(1), container_id, len) | 1,
			      .user = OWNER_ALL};
}

struct owner owner_of_process(pid_t pid, const char *container_id, size_t len)
{
	const uint64_t uid = real_user(pid);
	struct owner owner = {.user = subordinates_user(&subordinates, uid)};

	if (len > 0)
		owner.container = owner_of_container(container_id, len).container;
	return owner;
}
