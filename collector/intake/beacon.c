// SPDX-License-Identifier: Apache-2.0
/*
 * Finds an agent's path in /proc/<pid>/maps, see beacon.h. A line is "start-end access offset
 * device inode", spaces, and the mapping's name, in which a newline is "\012". The name of the
 * agent's region is "/memfd:fgagent-listen:PATH (deleted)". PATH is absolute and has neither
 * control characters nor backslashes.
 */
#include "intake/beacon.h"

#include "base/clock.h"
#include "base/guarded.h"
#include "shared/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_BYTES (32u << 10) /* several times the longest line */

static const char mark[] = "/memfd:" WIRE_LISTEN_REGION;
static const char suffix[] = " (deleted)";

static bool is_path(const char *text, size_t len)
{
	if (len == 0 || len >= BEACON_PATH_BYTES || text[0] != '/')
		return false;
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f || text[i] == '\\')
			return false;
	}
	return true;
}

bool beacon_find(const char *text, size_t len, char ret_path[BEACON_PATH_BYTES])
{
	const size_t mark_len = sizeof(mark) - 1, suffix_len = sizeof(suffix) - 1;
	const char *end = text + len, *at = text;

	while ((at = memmem(at, (size_t)(end - at), mark, mark_len))) {
		const char *path = at + mark_len;
		const char *newline = memchr(path, '\n', (size_t)(end - path));
		size_t path_len;

		if (!newline)
			return false;
		path_len = (size_t)(newline - path);
		at = newline;
		if (path_len < suffix_len || memcmp(newline - suffix_len, suffix, suffix_len) != 0)
			continue;
		path_len -= suffix_len;
		if (!is_path(path, path_len))
			continue;
		memcpy(ret_path, path, path_len);
		ret_path[path_len] = '\0';
		return true;
	}
	return false;
}

/* ---- the search ---- */

/* A search is a guarded call, because the kernel may have whoever reads maps wait. */
struct beacon {
	struct guarded_call base;
	pid_t pid;
	int proc_fd, fd; /* fd -1: maps are not open yet */
	int result;	 /* as beacon_step has it */
	uint64_t for_ns;
	size_t kept, total;
	char path[BEACON_PATH_BYTES];
	char chunk[CHUNK_BYTES];
};

/* Reads and searches once. */
static int read_on(struct beacon *beacon)
{
	const ssize_t n =
		read(beacon->fd, beacon->chunk + beacon->kept, CHUNK_BYTES - beacon->kept);
	const char *last;

	if (n < 0)
		return errno == EINTR ? 1 : -errno;
	if (n == 0)
		return -ENOENT;
	beacon->total += (size_t)n;
	if (beacon->total > BEACON_MAX_BYTES)
		return -EFBIG;
	beacon->kept += (size_t)n;
	last = memrchr(beacon->chunk, '\n', beacon->kept);
	if (last) {
		const size_t whole = (size_t)(last + 1 - beacon->chunk);

		if (beacon_find(beacon->chunk, whole, beacon->path))
			return 0;
		memmove(beacon->chunk, beacon->chunk + whole, beacon->kept - whole);
		beacon->kept -= whole;
	}
	return beacon->kept == CHUNK_BYTES ? -EBADMSG : 1; /* no line is as long */
}

static void run_search(struct guarded_call *base)
{
	struct beacon *const beacon = (struct beacon *)base;
	const uint64_t began_ns = clock_now_ns();

	if (beacon->fd < 0) {
		beacon->fd = openat(beacon->proc_fd, "maps", O_RDONLY | O_CLOEXEC);
		beacon->result = beacon->fd < 0 ? -errno : 1;
	}
	while (beacon->result > 0) {
		beacon->result = read_on(beacon);
		if (clock_now_ns() - began_ns >= beacon->for_ns)
			return;
	}
}

static void free_search(struct guarded_call *base)
{
	struct beacon *const beacon = (struct beacon *)base;

	if (beacon->fd >= 0)
		close(beacon->fd);
	close(beacon->proc_fd);
	free(beacon);
}

struct beacon *beacon_new(int proc_fd, pid_t pid)
{
	struct beacon *beacon = malloc(sizeof(*beacon));

	if (!beacon)
		return NULL;
	beacon->base = (struct guarded_call){.run = run_search, .free = free_search};
	beacon->pid = pid;
	beacon->proc_fd = fcntl(proc_fd, F_DUPFD_CLOEXEC, 0);
	beacon->fd = -1;
	beacon->result = 1;
	beacon->kept = beacon->total = 0;
	if (beacon->proc_fd < 0) {
		free(beacon);
		return NULL;
	}
	return beacon;
}

int beacon_step(struct beacon **beacon, uint64_t for_ns, char ret_path[BEACON_PATH_BYTES])
{
	struct beacon *const search = *beacon;
	enum guarded_end end;
	int result;

	search->for_ns = for_ns;
	end = guarded_run(search->pid, &search->base);
	if (end == GUARDED_LATE)
		*beacon = NULL;
	result = end == GUARDED_DONE ? search->result : -ETIMEDOUT;
	if (result == 0)
		memcpy(ret_path, search->path, BEACON_PATH_BYTES);
	if (result <= 0 && *beacon) {
		free_search(&search->base);
		*beacon = NULL;
	}
	return result;
}

void beacon_free(struct beacon *beacon)
{
	if (beacon)
		free_search(&beacon->base);
}

int beacon_read(int proc_fd, pid_t pid, char ret_path[BEACON_PATH_BYTES])
{
	struct beacon *beacon = beacon_new(proc_fd, pid);
	const int result = beacon ? beacon_step(&beacon, BEACON_READ_NS, ret_path) : -ENOMEM;

	beacon_free(beacon);
	return result > 0 ? -EAGAIN : result;
}
