// SPDX-License-Identifier: Apache-2.0
/*
 * Finds an agent's path in /proc/<pid>/maps, see beacon.h. A line is "start-end access offset
 * device inode", spaces, and the mapping's name, in which a newline is "\012". The name of the
 * agent's region is "/memfd:fgagent-listen:PATH (deleted)". PATH is absolute and has neither
 * control characters nor backslashes.
 */
#include "intake/beacon.h"

#include "base/cleanup.h"
#include "shared/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

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

int beacon_read(int proc_fd, char ret_path[BEACON_PATH_BYTES])
{
	_cleanup_close_ int fd = openat(proc_fd, "maps", O_RDONLY | O_CLOEXEC);
	char chunk[CHUNK_BYTES];
	size_t kept = 0, total = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		const ssize_t n = read(fd, chunk + kept, sizeof(chunk) - kept);
		const char *last;

		if (n < 0)
			return -errno;
		if (n == 0)
			return -ENOENT;
		total += (size_t)n;
		if (total > BEACON_MAX_BYTES)
			return -EFBIG;
		kept += (size_t)n;
		last = memrchr(chunk, '\n', kept);
		if (last) {
			const size_t whole = (size_t)(last + 1 - chunk);

			if (beacon_find(chunk, whole, ret_path))
				return 0;
			memmove(chunk, chunk + whole, kept - whole);
			kept -= whole;
		}
		if (kept == sizeof(chunk))
			return -EBADMSG; /* a line of maps is never this long */
	}
}
