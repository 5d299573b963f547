// SPDX-License-Identifier: Apache-2.0
/*
 * Puts perf maps in their places, see perf_map_place.h. What is looked at may be another file a
 * moment later. So a free name is taken by a call that fails if the name is taken; and after an
 * exchange of names the file that was there is looked at again, and is put back if it is not the
 * one that was seen.
 */
#include "maps/perf_map_place.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/root_file.h"
#include "foreign/map_marker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ATTEMPTS    4
#define BLANK_BYTES 512
#define BESIDE	    ".fgcollect"

/* Readers skip both lines. The second one marks no file as the collector's. */
static const char no_marker[sizeof(MAP_MARKER)] = "0 0 --\n";
static const char blank_end[] = " 0 fg\n";

/* ---- names ---- */

struct perf_map_name perf_map_name_of(pid_t pid)
{
	struct perf_map_name name;

	snprintf(name.text, sizeof(name.text), "perf-%d.map", (int)pid);
	return name;
}

struct perf_map_name perf_map_name_beside(pid_t pid)
{
	struct perf_map_name name;

	snprintf(name.text, sizeof(name.text), "perf-%d.map" BESIDE, (int)pid);
	return name;
}

pid_t perf_map_pid_of(const char *name, bool *ret_temp)
{
	int pid = 0, behind = 0;

	if (sscanf(name, "perf-%9d.map%n", &pid, &behind) != 1 || behind == 0 || pid <= 0)
		return 0;
	if (strlen(perf_map_name_of(pid).text) !=
	    (size_t)behind) /* the number has a sign, a space or zeros in front */
		return 0;
	name += behind;
	*ret_temp = name[0] == '.' && strspn(name + 1, "0123456789abcdef") == 16 && !name[17];
	return !name[0] || *ret_temp || strcmp(name, BESIDE) == 0 ? pid : 0;
}

/* ---- whose a file is ---- */

/*
 * If another process opens the file before the lease is returned, the kernel sends SIGURG, which is
 * ignored. File systems without leases cannot tell.
 */
bool perf_map_is_written(int fd)
{
	if (fcntl(fd, F_SETSIG, SIGURG) < 0)
		return false;
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		return errno == EAGAIN;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

enum place {
	PLACE_FREE,
	PLACE_OURS,
	PLACE_TAKEN,
};

/*
 * What is in the place, or an error that says nothing of the place. Neither a link nor a mount in
 * the place is followed, so nobody's file system is asked.
 */
static int look(int dirfd, const struct perf_map_name *name, const struct perf_map_known *known,
		struct stat *ret)
{
	_cleanup_close_ const int path_fd = root_file_open_beside(dirfd, name->text);

	if (path_fd < 0)
		return is_shortage(path_fd) ? path_fd
		       : path_fd == -ENOENT ? PLACE_FREE
					    : PLACE_TAKEN;
	if (fstat(path_fd, ret) < 0 || !S_ISREG(ret->st_mode))
		return PLACE_TAKEN;
	if (known && known->dev == ret->st_dev && known->ino == ret->st_ino)
		return PLACE_OURS;

	_cleanup_close_ const int fd = root_file_read_beside(path_fd);

	if (is_shortage(fd))
		return fd;
	return fd >= 0 && map_marker_is_in(fd) && !perf_map_is_written(fd) ? PLACE_OURS
									   : PLACE_TAKEN;
}

/* ---- places ---- */

/* Some file systems know no flags of rename. */
static bool lacks_flags(int err)
{
	return err == EINVAL || err == ENOSYS || err == EOPNOTSUPP;
}

static int take_free(int dirfd, const char *temp, const char *name)
{
	if (renameat2(dirfd, temp, dirfd, name, RENAME_NOREPLACE) == 0)
		return 0;
	if (!lacks_flags(errno) || linkat(dirfd, temp, dirfd, name, 0) < 0)
		return -errno;
	unlinkat(dirfd, temp, 0);
	return 0;
}

/*
 * Exchanges the two names. A rename over a file would make ext4 write the new file to the disk
 * first (auto_da_alloc), which takes longer than everything else here. -EAGAIN: the name has
 * another file meanwhile, which keeps it.
 */
static int take_ours(int dirfd, const char *temp, const char *name, const struct stat *ours)
{
	struct stat st;

	if (renameat2(dirfd, temp, dirfd, name, RENAME_EXCHANGE) == 0) {
		if (root_file_stat_beside(dirfd, temp, &st) == 0 && st.st_dev == ours->st_dev &&
		    st.st_ino == ours->st_ino)
			return 1;
		renameat2(dirfd, temp, dirfd, name, RENAME_EXCHANGE);
		return -EAGAIN;
	}
	if (errno == ENOENT)
		return -EAGAIN;
	if (!lacks_flags(errno))
		return -errno;
	return renameat(dirfd, temp, dirfd, name) < 0 ? -errno : 0;
}

int perf_map_put(int dirfd, const struct perf_map_name *temp, const struct perf_map_name *name,
		 const struct perf_map_known *known)
{
	int result = -EAGAIN;

	for (int i = 0; i < ATTEMPTS && result == -EAGAIN; i++) {
		struct stat st;
		const int place = look(dirfd, name, known, &st);

		if (place < 0)
			return place;
		if (place == PLACE_TAKEN)
			return -EEXIST;
		result = place == PLACE_FREE ? take_free(dirfd, temp->text, name->text)
					     : take_ours(dirfd, temp->text, name->text, &st);
		if (result == -EEXIST)
			result = -EAGAIN;
	}
	return result == -EAGAIN ? -EEXIST : result;
}

bool perf_map_remove(int dirfd, const struct perf_map_name *name,
		     const struct perf_map_known *known)
{
	struct stat st;

	return look(dirfd, name, known, &st) == PLACE_OURS && unlinkat(dirfd, name->text, 0) == 0;
}

/* ---- files that are left to others ---- */

static int write_at(int fd, const char *text, size_t len, off_t offset)
{
	const ssize_t n = pwrite(fd, text, len, offset);

	return n < 0 ? -errno : (size_t)n == len ? 0 : -EIO;
}

/* Overwrites with lines of zeros, none of which is shorter than the end of such a line. */
static int blank(int fd, off_t from, off_t until)
{
	const size_t end = sizeof(blank_end) - 1;
	int err = 0;

	while (!err && until - from >= (off_t)end) {
		const off_t left = until - from;
		const size_t len = left < 2 * BLANK_BYTES ? (size_t)left : BLANK_BYTES;
		char text[2 * BLANK_BYTES];

		memset(text, '0', len - end);
		memcpy(text + len - end, blank_end, end);
		err = write_at(fd, text, len, from);
		from += (off_t)len;
	}
	return err;
}

int perf_map_yield(int fd, off_t ours)
{
	const off_t first = sizeof(MAP_MARKER) - 1;
	char path[32];
	struct stat st;
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	_cleanup_close_ const int file = open(path, O_RDWR | O_CLOEXEC);

	if (file < 0 || fstat(file, &st) < 0)
		return -errno;
	/* Whoever has emptied the file has made it his own. */
	if (!map_marker_is_in(file) || st.st_size < ours)
		return 0;
	err = write_at(file, no_marker, (size_t)first, 0);
	return err ? err : blank(file, first, ours);
}
