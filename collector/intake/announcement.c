// SPDX-License-Identifier: Apache-2.0
/*
 * Finds an agent's path in /proc/<pid>/maps, see announcement.h. A line is "start-end access offset
 * device inode", spaces, and the mapping's name, in which a newline is "\012". The name of the
 * agent's region is "/memfd:fgagent-listen:PATH (deleted)". PATH is absolute and has neither
 * control characters nor backslashes.
 */
#include "intake/announcement.h"

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
	if (len == 0 || len >= ANNOUNCEMENT_PATH_BYTES || text[0] != '/')
		return false;
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f || text[i] == '\\')
			return false;
	}
	return true;
}

bool announcement_find(const char *text, size_t len, char ret_path[ANNOUNCEMENT_PATH_BYTES])
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
struct announcement {
	struct guarded_call base;
	pid_t pid;
	int proc_fd, fd; /* fd -1: maps are not open yet */
	int result;	 /* as announcement_step has it */
	uint64_t for_ns;
	size_t kept, total;
	char path[ANNOUNCEMENT_PATH_BYTES];
	char chunk[CHUNK_BYTES];
};

/* Reads and searches once. */
static int read_on(struct announcement *announcement)
{
	const ssize_t n = read(announcement->fd, announcement->chunk + announcement->kept,
			       CHUNK_BYTES - announcement->kept);
	const char *last;

	if (n < 0)
		return errno == EINTR ? 1 : -errno;
	if (n == 0)
		return -ENOENT;
	announcement->total += (size_t)n;
	if (announcement->total > ANNOUNCEMENT_MAX_BYTES)
		return -EFBIG;
	announcement->kept += (size_t)n;
	last = memrchr(announcement->chunk, '\n', announcement->kept);
	if (last) {
		const size_t whole = (size_t)(last + 1 - announcement->chunk);

		if (announcement_find(announcement->chunk, whole, announcement->path))
			return 0;
		memmove(announcement->chunk, announcement->chunk + whole,
			announcement->kept - whole);
		announcement->kept -= whole;
	}
	return announcement->kept == CHUNK_BYTES ? -EBADMSG : 1; /* no line is as long */
}

static void run_search(struct guarded_call *base)
{
	struct announcement *const announcement = (struct announcement *)base;
	const uint64_t began_ns = clock_now_ns();

	if (announcement->fd < 0) {
		announcement->fd = openat(announcement->proc_fd, "maps", O_RDONLY | O_CLOEXEC);
		announcement->result = announcement->fd < 0 ? -errno : 1;
	}
	while (announcement->result > 0) {
		announcement->result = read_on(announcement);
		if (clock_now_ns() - began_ns >= announcement->for_ns)
			return;
	}
}

static void free_search(struct guarded_call *base)
{
	struct announcement *const announcement = (struct announcement *)base;

	if (announcement->fd >= 0)
		close(announcement->fd);
	close(announcement->proc_fd);
	free(announcement);
}

struct announcement *announcement_new(int proc_fd, pid_t pid)
{
	struct announcement *announcement = malloc(sizeof(*announcement));

	if (!announcement)
		return NULL;
	announcement->base = (struct guarded_call){.run = run_search, .free = free_search};
	announcement->pid = pid;
	announcement->proc_fd = fcntl(proc_fd, F_DUPFD_CLOEXEC, 0);
	announcement->fd = -1;
	announcement->result = 1;
	announcement->kept = announcement->total = 0;
	if (announcement->proc_fd < 0) {
		free(announcement);
		return NULL;
	}
	return announcement;
}

int announcement_step(struct announcement **announcement, uint64_t for_ns,
		      char ret_path[ANNOUNCEMENT_PATH_BYTES])
{
	struct announcement *const search = *announcement;
	enum guarded_end end;
	int result;

	search->for_ns = for_ns;
	end = guarded_run(search->pid, &search->base);
	if (end == GUARDED_LATE)
		*announcement = NULL;
	result = end == GUARDED_DONE ? search->result : -ETIMEDOUT;
	if (result == 0)
		memcpy(ret_path, search->path, ANNOUNCEMENT_PATH_BYTES);
	if (result <= 0 && *announcement) {
		free_search(&search->base);
		*announcement = NULL;
	}
	return result;
}

void announcement_free(struct announcement *announcement)
{
	if (announcement)
		free_search(&announcement->base);
}

int announcement_read(int proc_fd, pid_t pid, char ret_path[ANNOUNCEMENT_PATH_BYTES])
{
	struct announcement *announcement = announcement_new(proc_fd, pid);
	const int result =
		announcement ? announcement_step(&announcement, ANNOUNCEMENT_READ_NS, ret_path)
			     : -ENOMEM;

	announcement_free(announcement);
	return result > 0 ? -EAGAIN : result;
}
