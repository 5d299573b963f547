// SPDX-License-Identifier: Apache-2.0
/*
 * Files of a spool, see spool_files.h. A file is a line and the body:
 *
 *   fgpush1 <made, ns since 1970> <samples> <length of the body> <crc32 of the body>
 */
#include "push/spool_files.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <zlib.h>

#define HEAD_BYTES  128
#define MAX_BODY    (64u << 20)
#define NAME_BYTES  64
#define HEAD_FORMAT "fgpush1 %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32 "\n"

static void name_file(char ret[NAME_BYTES], uint64_t number, const char *suffix)
{
	snprintf(ret, NAME_BYTES, "%016" PRIu64 "%s", number, suffix);
}

int spool_files_rename(const struct spool_files *files, uint64_t number, const char *from,
		       const char *to)
{
	char old[NAME_BYTES], new[NAME_BYTES];
	int err = 0;

	name_file(old, number, from);
	name_file(new, number, to);
	if (renameat(files->fd, old, files->fd, new) < 0) {
		err = -errno;
		log_debug("%s/%s: %s", files->path, old, strerror(-err));
	}
	return err;
}

int spool_files_remove(const struct spool_files *files, uint64_t number, const char *suffix)
{
	char name[NAME_BYTES];

	name_file(name, number, suffix);
	return unlinkat(files->fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

/* A file that was not there: what has its name is removed, whatever that is. */
static int create(const struct spool_files *files, const char *name)
{
	unlinkat(files->fd, name, 0);
	return openat(files->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* Whether that is a file of the daemon's own user, and neither a device nor a pipe. */
static bool is_ours(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

/* Opens a file of ours to read. -EBADMSG: it is none. */
static int open_file(const struct spool_files *files, const char *name, int *ret_fd)
{
	const int fd = openat(files->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return errno == ELOOP || errno == ENXIO ? -EBADMSG : -errno;
	if (!is_ours(fd)) {
		close(fd);
		return -EBADMSG;
	}
	*ret_fd = fd;
	return 0;
}

int spool_files_write(const struct spool_files *files, const struct spool_head *head,
		      const struct bytes *body)
{
	_cleanup_close_ int fd = create(files, "new");
	char line[HEAD_BYTES], name[NAME_BYTES];
	int len;

	if (fd < 0)
		return -errno;
	len = snprintf(line, sizeof(line), HEAD_FORMAT, head->made_unix_ns, head->samples,
		       head->bytes, (uint32_t)crc32(0, (const Bytef *)body->data, (uInt)body->len));
	if (file_write_all(fd, line, (size_t)len) || file_write_all(fd, body->data, body->len))
		return errno ? -errno : -EIO;
	name_file(name, head->number, ".push");
	return renameat(files->fd, "new", files->fd, name) < 0 ? -errno : 0;
}

/* *ret_crc and *ret_len: of what follows. -EBADMSG: the head is none of ours. */
static int read_head(int fd, struct spool_head *ret, uint32_t *ret_crc, size_t *ret_len)
{
	char line[HEAD_BYTES + 1];
	const ssize_t n = pread(fd, line, HEAD_BYTES, 0);
	char *end;

	if (n < 0)
		return -errno;
	line[n] = '\0';
	end = memchr(line, '\n', (size_t)n);
	if (!end ||
	    sscanf(line, HEAD_FORMAT, &ret->made_unix_ns, &ret->samples, &ret->bytes, ret_crc) != 4)
		return -EBADMSG;
	*ret_len = (size_t)(end + 1 - line);
	return ret->bytes <= MAX_BODY ? 0 : -EBADMSG;
}

int spool_files_look(const struct spool_files *files, uint64_t number, const char *suffix,
		     struct spool_head *ret)
{
	char name[NAME_BYTES];
	_cleanup_close_ int fd = -1;
	uint32_t crc;
	size_t at;
	int err;

	name_file(name, number, suffix);
	err = open_file(files, name, &fd);
	ret->number = number;
	return err ? err : read_head(fd, ret, &crc, &at);
}

int spool_files_read(const struct spool_files *files, const struct spool_head *head,
		     const char *suffix, struct bytes *ret)
{
	char name[NAME_BYTES];
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *body = NULL;
	struct spool_head found;
	uint32_t crc;
	size_t at;
	ssize_t n;
	int err;

	name_file(name, head->number, suffix);
	err = open_file(files, name, &fd);
	if (err)
		return err;
	err = read_head(fd, &found, &crc, &at);
	if (err || found.bytes != head->bytes)
		return err ? err : -EBADMSG;
	body = malloc(found.bytes + 1);
	if (!body)
		return -ENOMEM;
	n = pread(fd, body, found.bytes + 1, (off_t)at);
	if (n < 0)
		return -errno;
	if (n != (ssize_t)found.bytes || crc32(0, (const Bytef *)body, (uInt)found.bytes) != crc)
		return -EBADMSG;
	bytes_add(ret, body, found.bytes);
	return ret->failed ? -ENOMEM : 0;
}

static int add_number(struct spool_numbers *numbers, uint64_t number)
{
	if (ARRAY_RESERVE(numbers->items, numbers->size, numbers->count + 1) < 0)
		return -ENOMEM;
	numbers->items[numbers->count++] = number;
	return 0;
}

/* The numbers of files with the suffix, from the least on. */
int spool_files_list(const struct spool_files *files, const char *suffix, struct spool_numbers *ret)
{
	const int fd = openat(files->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *item;
	int err = 0;

	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (item = readdir(dir))) {
		char *end;
		const unsigned long long number = strtoull(item->d_name, &end, 10);

		if (end == item->d_name + 16 && strcmp(end, suffix) == 0)
			err = add_number(ret, number);
	}
	if (!err && ret->count > 0)
		qsort(ret->items, ret->count, sizeof(*ret->items), array_by_u64);
	return err;
}

void spool_files_keep(struct spool_files *files, uint64_t number)
{
	uint64_t *const place = &files->refused[files->n_refused++ % SPOOL_FILES_REFUSED];

	if (files->n_refused > SPOOL_FILES_REFUSED) {
		spool_files_remove(files, *place, ".refused");
		spool_files_remove(files, *place, ".why");
	}
	*place = number;
}

void spool_files_say_why(const struct spool_files *files, uint64_t number, const char *why)
{
	char name[NAME_BYTES];
	_cleanup_close_ int fd = -1;

	name_file(name, number, ".why");
	fd = create(files, name);
	if (fd < 0 || file_write_all(fd, why, strlen(why)) || file_write_all(fd, "\n", 1))
		log_debug("%s/%s: %s", files->path, name, strerror(errno));
}

/* FNV-1a: a name of 16 digits for a URL. */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

int spool_files_open(struct spool_files *files, const char *dir, const char *target)
{
	char path[4200];
	struct file_atomic file;
	int err;

	if (asprintf(&files->path, "%s/%016" PRIx64, dir, hash_of(target)) < 0) {
		files->path = NULL;
		return -ENOMEM;
	}
	if (mkdir(files->path, 0700) < 0 && errno != EEXIST)
		return -errno;
	files->fd = open(files->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (files->fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "%s/url", files->path);
	err = file_atomic_open(&file, path, 0600);
	if (err)
		return err;
	fprintf(file.stream, "%s\n", target);
	err = file_atomic_commit(&file);
	return err;
}

int spool_files_lock(const char *dir, int *ret_fd)
{
	char path[4200];
	int fd;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (snprintf(path, sizeof(path), "%s/lock", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0)
		return -errno;
	if (!is_ours(fd)) {
		close(fd);
		return -EPERM;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		const int err = errno == EWOULDBLOCK ? -EBUSY : -errno;

		close(fd);
		return err;
	}
	*ret_fd = fd;
	return 0;
}

void spool_files_fini(struct spool_files *files)
{
	if (files->fd >= 0)
		close(files->fd);
	free(files->path);
	*files = (struct spool_files){.fd = -1};
}
