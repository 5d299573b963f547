// SPDX-License-Identifier: Apache-2.0
/*
 * Reads /proc/<pid>/pagemap, see page_map.h: a word for each page, 0 if there is nothing, with bit
 * 62 if the page has been swapped out, and bit 63 if it is in memory or on the move. The kernel
 * takes the lock of the process's memory for that, which others may hold for long; so the read is a
 * guarded call.
 */
#include "memory/page_map.h"

#include "base/guarded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SWAPPED (UINT64_C(1) << 62)

struct page_map_call {
	struct guarded_call base;
	pid_t pid;
	uint64_t first; /* number of the first page */
	size_t n;
	int err;
	struct page_map map;
};

static void run(struct guarded_call *base)
{
	struct page_map_call *const call = (struct page_map_call *)base;
	uint64_t words[PAGE_MAP_MAX_PAGES] = {0};
	const size_t size = call->n * sizeof(*words);
	char path[32];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)call->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : pread(fd, words, size, (off_t)(call->first * sizeof(*words)));
	call->err = got < 0 ? -errno : (size_t)got == size ? 0 : -ENODATA;
	if (fd >= 0)
		close(fd);
	for (size_t i = 0; i < call->n && !call->err; i++) {
		call->map.untouched |= (uint64_t)(words[i] == 0) << i;
		call->map.swapped |= (uint64_t)((words[i] & SWAPPED) != 0) << i;
	}
}

int page_map_read(pid_t pid, uint64_t addr, size_t n, struct page_map *ret)
{
	struct page_map_call *call;
	int err;

	if (n == 0 || n > PAGE_MAP_MAX_PAGES)
		return -EINVAL;
	call = calloc(1, sizeof(*call));
	if (!call)
		return -ENOMEM;
	call->base = (struct guarded_call){.run = run};
	call->pid = pid;
	call->first = addr / PAGE_MAP_PAGE_BYTES;
	call->n = n;
	switch (guarded_run(pid, &call->base)) {
	case GUARDED_LATE:
		return -ETIMEDOUT; /* the call is a helper's now */
	case GUARDED_PAUSED:
		free(call);
		return -ETIMEDOUT;
	case GUARDED_DONE:
		break;
	}
	err = call->err;
	if (!err)
		*ret = call->map;
	free(call);
	return err;
}
