// SPDX-License-Identifier: Apache-2.0
/* Finds out how much memory there is, and divides it, see budget.h. */
#include "guard/budget.h"

#include "base/file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE (UINT64_C(1) << 60) /* version 1 says "no limit" with a number near 2^63 */

static uint64_t lesser_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The limit in a file; NONE without such a file, and for "max". */
static uint64_t read_limit(const char *root, const char *path, const char *name)
{
	char file[PATH_MAX], text[64];
	unsigned long long bytes;

	if (snprintf(file, sizeof(file), "%s%s/%s", root, path, name) >= (int)sizeof(file) ||
	    file_read_small(file, text, sizeof(text)) <= 0 || sscanf(text, "%llu", &bytes) != 1)
		return NONE;
	return lesser_of(bytes, NONE);
}

/*
 * The least limit of a cgroup and of those above. In a container whose cgroup file system begins
 * with the container's own cgroup, the path is not there, but the own cgroup is the root.
 */
static uint64_t least_limit(const char *root, const char *cgroup, const char *name)
{
	uint64_t least = NONE;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", cgroup);
	for (char *end; (end = strrchr(path, '/')); *end = '\0')
		least = lesser_of(least, read_limit(root, end[1] || end != path ? path : "", name));
	return lesser_of(least, read_limit(root, "", name));
}

static bool has_controller(const char *list, size_t len, const char *name)
{
	const size_t name_len = strlen(name);

	for (const char *end = list + len, *at = list; at < end;) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const size_t n = (size_t)((comma ? comma : end) - at);

		if (n == name_len && memcmp(at, name, n) == 0)
			return true;
		at += n + 1;
	}
	return false;
}

/* A line is "number:controllers:path"; version 2 has no controllers. */
static uint64_t limit_of_line(const struct budget_files *files, const char *line)
{
	const char *controllers = strchr(line, ':');
	const char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return NONE;
	controllers++;
	if (path == controllers)
		return lesser_of(least_limit(files->v2, path + 1, "memory.max"),
				 least_limit(files->hybrid, path + 1, "memory.max"));
	if (has_controller(controllers, (size_t)(path - controllers), "memory"))
		return least_limit(files->v1, path + 1, "memory.limit_in_bytes");
	return NONE;
}

static uint64_t cgroup_limit(const struct budget_files *files)
{
	uint64_t least = NONE;
	char text[16384], *rest = text;

	if (file_read_small(files->own, text, sizeof(text)) <= 0)
		return NONE;
	for (char *line; (line = strsep(&rest, "\n"));)
		least = lesser_of(least, limit_of_line(files, line));
	return least;
}

static uint64_t machine_memory(const struct budget_files *files)
{
	unsigned long long kib;
	char text[4096];
	const char *line;

	if (file_read_small(files->meminfo, text, sizeof(text)) <= 0)
		return NONE;
	line = strstr(text, "MemTotal:");
	return line && sscanf(line, "MemTotal: %llu kB", &kib) == 1 ? kib << 10 : NONE;
}

uint64_t budget_allowed(const struct budget_files *files)
{
	static const struct budget_files usual = {.own = "/proc/self/cgroup",
						  .meminfo = "/proc/meminfo",
						  .v1 = "/sys/fs/cgroup/memory",
						  .v2 = "/sys/fs/cgroup",
						  .hybrid = "/sys/fs/cgroup/unified"};
	uint64_t bytes = BUDGET_MOST;

	if (!files)
		files = &usual;
	bytes = lesser_of(bytes, machine_memory(files) / 4);
	bytes = lesser_of(bytes, cgroup_limit(files) / 4 * 3);
	return bytes > BUDGET_LEAST ? bytes : BUDGET_LEAST;
}

void budget_init(struct budget *budget, uint64_t bytes)
{
	const uint64_t mib = 1 << 20;

	bytes = bytes ? bytes : budget_allowed(NULL);
	*budget = (struct budget){
		.bytes = bytes,
		.tables = lesser_of(bytes / 8, 512 * mib),
		.messages = lesser_of(bytes / 16, 64 * mib),
		.foreign = lesser_of(bytes / 8, 256 * mib),
		.held = lesser_of(bytes / 64, 64 * mib),
		.tree = bytes / 16,
		.capture = lesser_of(bytes / 8, 512 * mib),
		.files = lesser_of(bytes / 32, 64 * mib),
		.names = lesser_of(bytes / 32, 32 * mib),
		.lines = lesser_of(bytes / 64, 128 * mib),
		.containers = lesser_of(bytes / 64, 64 * mib),
		.period = lesser_of(bytes / 16, 256 * mib),
		.waiting = lesser_of(bytes / 7, 544 * mib),
		.methods = lesser_of(bytes / 8, 128 * mib),
		.publish = lesser_of(bytes / 32, 32 * mib),
		.queries = lesser_of(bytes / 8, 256 * mib),
	};
}

uint64_t budget_processes(const struct budget *budget, uint64_t shared)
{
	const uint64_t least = budget->bytes / 2;

	return shared < budget->bytes - least ? budget->bytes - shared : least;
}
