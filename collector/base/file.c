// SPDX-License-Identifier: Apache-2.0
/* Reads small files and writes output files, see file.h. */
#include "base/file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* off: where in the file; NULL: where the descriptor is. */
static ssize_t fill(int fd, char *buf, size_t size, const uint64_t *off)
{
	size_t len = 0;

	while (len < size) {
		const ssize_t n = off ? pread(fd, buf + len, size - len, (off_t)(*off + len))
				      : read(fd, buf + len, size - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

ssize_t file_read_up_to(int fd, char *buf, size_t size)
{
	return fill(fd, buf, size, NULL);
}

ssize_t file_read_at(int fd, void *buf, size_t size, uint64_t off)
{
	return fill(fd, buf, size, &off);
}

ssize_t file_read_small_at(int dir_fd, const char *path, char *buf, size_t size)
{
	_cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = file_read_up_to(fd, buf, size - 1);
	if (len >= 0)
		buf[len] = '\0';
	return len;
}

int file_write_all(int fd, const void *data, size_t len)
{
	const char *const bytes = data;

	for (size_t done = 0; done < len;) {
		const ssize_t n = write(fd, bytes + done, len - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0)
			return -EIO;
		else if (errno != EINTR)
			return -errno;
	}
	return 0;
}

int file_copy(int fd, FILE *stream)
{
	char buf[65536];
	off_t at = 0;

	for (;;) {
		const ssize_t n = pread(fd, buf, sizeof(buf), at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		if (fwrite(buf, 1, (size_t)n, stream) != (size_t)n)
			return -errno;
		at += n;
	}
}

ssize_t file_read_small(const char *path, char *buf, size_t size)
{
	return file_read_small_at(AT_FDCWD, path, buf, size);
}

ssize_t file_read_whole(const char *path, size_t max_bytes, char **ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	_cleanup_free_ char *buf = NULL;
	size_t size = 4096, len = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		char *bigger = realloc(buf, size + 1);
		ssize_t n;

		if (!bigger)
			return -ENOMEM;
		buf = bigger;
		n = file_read_up_to(fd, buf + len, size - len);
		if (n < 0)
			return n;
		len += (size_t)n;
		if (len < size || size == max_bytes)
			break;
		size = size * 2 < max_bytes ? size * 2 : max_bytes;
	}
	buf[len] = '\0';
	*ret = buf;
	buf = NULL;
	return (ssize_t)len;
}

static void atomic_free(struct file_atomic *file)
{
	free(file->path);
	free(file->temp_path);
	*file = (struct file_atomic){0};
}

/* The umask can be asked for only by changing it, or of proc, where other threads do not notice. */
static mode_t read_umask(void)
{
	char status[4096];
	const char *line = file_read_small("/proc/self/status", status, sizeof(status)) < 0
				   ? NULL
				   : strstr(status, "\nUmask:");

	return line ? (mode_t)strtoul(line + strlen("\nUmask:"), NULL, 8) & 0777 : 022;
}

mode_t file_output_mode(const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		return st.st_mode & 0777;
	return 0666 & ~read_umask();
}

int file_atomic_open(struct file_atomic *file, const char *path, mode_t mode)
{
	const size_t size = strlen(path) + sizeof(".XXXXXX");
	int fd = -1, err;

	*file = (struct file_atomic){.path = strdup(path), .temp_path = malloc(size)};
	if (!file->path || !file->temp_path) {
		atomic_free(file);
		return -ENOMEM;
	}
	snprintf(file->temp_path, size, "%s.XXXXXX", path);
	fd = mkostemp(file->temp_path, O_CLOEXEC); /* O_EXCL; never follows a symlink */
	if (fd >= 0 && fchmod(fd, mode) == 0)
		file->stream = fdopen(fd, "w");
	if (file->stream)
		return 0;
	err = -errno;
	if (fd >= 0) {
		close(fd);
		unlink(file->temp_path);
	}
	atomic_free(file);
	return err;
}

int file_atomic_commit(struct file_atomic *file)
{
	int err = 0;

	/*
	 * If an earlier write failed, only the stream's error flag says so: errno has changed
	 * since.
	 */
	if (fflush(file->stream) != 0)
		err = -errno;
	else if (ferror(file->stream))
		err = -EIO;
	if (fclose(file->stream) != 0 && !err)
		err = -errno;
	if (!err && rename(file->temp_path, file->path) < 0)
		err = -errno;
	if (err)
		unlink(file->temp_path);
	atomic_free(file);
	return err;
}

void file_atomic_abandon(struct file_atomic *file)
{
	const int saved = errno;

	if (file->stream) {
		fclose(file->stream);
		unlink(file->temp_path);
	}
	atomic_free(file);
	errno = saved;
}
