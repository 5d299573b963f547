// SPDX-License-Identifier: Apache-2.0
/* Finds out who a process belongs to, see owner.h. */
#include "guard/owner.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash_seed.h"
#include "base/quick_hash.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NAMESPACES 33 /* the kernel nests as many at most, see user_namespaces(7) */

static bool is_same(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/*
 * The user who made the outermost of the process's user namespaces that lie in the collector's.
 * OWNER_NOBODY: the process is in the collector's user namespace, or may not be looked at.
 */
static uint64_t namespace_user(pid_t pid)
{
	_cleanup_close_ int inner = -1;
	char path[32];
	uid_t uid;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	inner = open(path, O_RDONLY | O_CLOEXEC);
	if (inner < 0 || is_same(inner, "/proc/self/ns/user"))
		return OWNER_NOBODY;
	for (int i = 0; i < MAX_NAMESPACES; i++) {
		const int outer = ioctl(inner, NS_GET_PARENT);

		if (outer < 0)
			return OWNER_NOBODY;
		if (is_same(outer, "/proc/self/ns/user")) {
			close(outer);
			return ioctl(inner, NS_GET_OWNER_UID, &uid) == 0 ? uid : OWNER_NOBODY;
		}
		close(inner);
		inner = outer;
	}
	return OWNER_NOBODY;
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

static int compare_groups(const void *a, const void *b)
{
	const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

size_t owner_count_groups(uint64_t *groups, size_t n)
{
	size_t count = n > 0;

	qsort(groups, n, sizeof(*groups), compare_groups);
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
	struct owner owner = {.user = namespace_user(pid)};

	if (owner.user == OWNER_NOBODY)
		owner.user = real_user(pid);
	if (len > 0)
		owner.container = owner_of_container(container_id, len).container;
	return owner;
}
