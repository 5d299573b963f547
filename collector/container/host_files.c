// SPDX-License-Identifier: Apache-2.0
/* Reads files of the host without leaving the root directory, see host_files.h. */
#include "container/host_files.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int host_dir_open(int root_fd, const char *path)
{
	return root_file_open_at(root_fd, path, O_PATH | O_DIRECTORY, RESOLVE_IN_ROOT);
}

DIR *host_dir_list(int root_fd, const char *path)
{
	const int fd = root_file_open_at(root_fd, path, O_RDONLY | O_DIRECTORY, RESOLVE_IN_ROOT);
	DIR *dir;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	dir = fdopendir(fd);
	if (!dir)
		close(fd);
	return dir;
}

ssize_t host_file_read(int dir_fd, const char *path, size_t max_bytes, char **ret)
{
	struct stat st;
	_cleanup_close_ const int fd =
		root_file_open_regular(dir_fd, path, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, &st);
	_cleanup_free_ char *buf = NULL;
	ssize_t len;

	if (fd < 0)
		return fd;
	if (st.st_size < 0 || (uint64_t)st.st_size > max_bytes)
		return -EFBIG;
	buf = malloc((size_t)st.st_size + 2);
	if (!buf)
		return -ENOMEM;
	len = file_read_up_to(fd, buf, (size_t)st.st_size + 1);
	if (len < 0)
		return len;
	if (len > st.st_size)
		return -EAGAIN; /* the file grows, so its writer has not finished */
	buf[len] = '\0';
	*ret = buf;
	buf = NULL;
	return len;
}
