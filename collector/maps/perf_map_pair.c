// SPDX-License-Identifier: Apache-2.0
/*
 * The two files of a perf map, see perf_map_pair.h. The kernel grants a write lease on the spare
 * only if no other process has the spare open: so a lease is how to find out.
 */
#include "maps/perf_map_pair.h"

#include "base/root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define TEMP_ATTEMPTS 8
#define TEXT_BYTES    4096

/* The end of a blanked line, behind zeros: size 0, and a name that perf skips. */
static const char blank_end[] = " 0 fg\n";

/* ---- files ---- */

static struct perf_map_name temp_name(pid_t pid)
{
	unsigned long long random = 0;
	struct perf_map_name name;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (unsigned long long)getpid(); /* a guess is harmless because of O_EXCL */
	snprintf(name.text, sizeof(name.text), "perf-%d.map.%016llx", (int)pid, random);
	return name;
}

int perf_map_pair_create(int dirfd, pid_t pid, struct perf_map_name *ret_temp)
{
	for (int i = 0; i < TEMP_ATTEMPTS; i++) {
		const struct perf_map_name name = temp_name(pid);
		const int fd = openat(dirfd, name.text,
				      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

		if (fd >= 0) {
			*ret_temp = name;
			return fd;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static struct perf_map_file file_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return (struct perf_map_file){.is_open = true, .fd = fd, .size = -1};
	return (struct perf_map_file){
		.is_open = true,
		.fd = fd,
		.dev = st.st_dev,
		.ino = st.st_ino,
		.size = st.st_size,
		.mtime = st.st_mtim,
	};
}

static void close_file(struct perf_map_file *file)
{
	if (file->is_open)
		close(file->fd);
	*file = (struct perf_map_file){0};
}

static bool is_written_since(const struct perf_map_file *file, const struct stat *st)
{
	return st->st_size != file->size || st->st_mtim.tv_sec != file->mtime.tv_sec ||
	       st->st_mtim.tv_nsec != file->mtime.tv_nsec;
}

/*
 * Whether the file is unchanged: it exists, only this user can write to it, and its size and time
 * are as known.
 */
static bool is_as_left(const struct perf_map_file *file)
{
	struct stat st;

	return file->is_open && fstat(file->fd, &st) == 0 && st.st_nlink == 1 &&
	       st.st_uid == geteuid() && !(st.st_mode & 022) && !is_written_since(file, &st);
}

/*
 * Whether no other descriptor is open: only then a lease is granted. If another process opens the
 * file before the lease is returned, the kernel sends SIGURG, which is ignored.
 */
static bool nobody_has_open(int fd)
{
	const bool is_granted =
		fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_WRLCK) == 0;

	if (is_granted)
		fcntl(fd, F_SETLEASE, F_UNLCK);
	return is_granted;
}

/*
 * Whether another program has written to the file, or has it open to do so. file->fd may be open
 * for reading alone afterwards, because a descriptor for writing of the collector's own would hide
 * whether there are others.
 */
static bool is_shared(struct perf_map_file *file)
{
	char path[32];
	struct stat st;
	int fd;

	if (!file->is_open || fstat(file->fd, &st) < 0 || st.st_nlink == 0)
		return false;
	if (is_written_since(file, &st))
		return true;
	if (nobody_has_open(file->fd))
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	close(file->fd);
	file->fd = fd;
	return perf_map_is_written(fd);
}

static bool is_that_file(int dirfd, const struct perf_map_name *name,
			 const struct perf_map_file *file)
{
	struct stat st;

	return file->is_open && root_file_stat_beside(dirfd, name->text, &st) == 0 &&
	       st.st_dev == file->dev && st.st_ino == file->ino;
}

static bool copy_range(int from, int to, off_t begin, off_t end)
{
	off_t in = begin, out = begin;

	while (in < end) {
		const ssize_t n = copy_file_range(from, &in, to, &out, (size_t)(end - in), 0);

		if (n <= 0)
			return false;
	}
	return true;
}

/* ---- lines ---- */

int perf_map_pair_note(struct perf_map_pair *pair, uint64_t addr, struct perf_map_lines lines)
{
	const uint64_t packed = (uint64_t)lines.offset << 32 | lines.len;

	return map64_put(&pair->lines, addr, (void *)(uintptr_t)packed);
}

struct perf_map_lines perf_map_pair_forget(struct perf_map_pair *pair, uint64_t addr)
{
	const uint64_t packed = (uintptr_t)map64_remove(&pair->lines, addr);
	const struct perf_map_lines lines = {.offset = (uint32_t)(packed >> 32),
					     .len = (uint32_t)packed};

	if (lines.len == 0)
		return lines;
	pair->blanked += lines.len;
	if (pair->n_blanks < PERF_MAP_PAIR_MAX_BLANKS)
		pair->blanks[pair->n_blanks] = lines;
	pair->n_blanks++;
	return lines;
}

void perf_map_pair_fill(char *text, size_t len)
{
	const size_t end = sizeof(blank_end) - 1;

	memset(text, '0', len - end);
	memcpy(text + len - end, blank_end, end);
}

static int write_at(int fd, const char *text, size_t len, off_t offset)
{
	while (len > 0) {
		const ssize_t n = pwrite(fd, text, len, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		text += n;
		len -= (size_t)n;
		offset += n;
	}
	return 0;
}

int perf_map_pair_blank(int fd, struct perf_map_lines lines)
{
	char text[TEXT_BYTES];
	off_t offset = lines.offset;

	memset(text, '0', sizeof(text));
	while (lines.len > sizeof(text)) {
		const uint32_t n = lines.len - sizeof(text) < sizeof(blank_end)
					   ? (uint32_t)(lines.len / 2)
					   : (uint32_t)sizeof(text);
		const int err = write_at(fd, text, n, offset);

		if (err)
			return err;
		lines.len -= n;
		offset += n;
	}
	perf_map_pair_fill(text, lines.len);
	return write_at(fd, text, lines.len, offset);
}

/* ---- pairs ---- */

/*
 * Leaves the spare to the program that writes to it, under the name by which that program opened
 * the file. The perf map that has this name by now goes beside.
 */
static void give_spare_back(struct perf_map_pair *pair, int dirfd)
{
	const struct perf_map_name *const temp = &pair->temp;
	bool is_temp;
	const pid_t pid = perf_map_pid_of(temp->text, &is_temp);
	const struct perf_map_name name = perf_map_name_of(pid), beside = perf_map_name_beside(pid);

	perf_map_yield(pair->spare.fd, pair->spare.size);
	if (!is_that_file(dirfd, &name, &pair->shown)) {
		perf_map_put(dirfd, temp, &name, NULL);
		return;
	}
	if (renameat2(dirfd, temp->text, dirfd, name.text, RENAME_EXCHANGE) < 0)
		return;
	pair->is_beside = true;
	if (perf_map_put(dirfd, temp, &beside, NULL) == 0)
		return;
	if (is_shared(&pair->shown))
		perf_map_yield(pair->shown.fd, pair->shown.size);
	else
		unlinkat(dirfd, temp->text, 0);
}

void perf_map_pair_drop_spare(struct perf_map_pair *pair, int dirfd)
{
	if (is_shared(&pair->spare))
		give_spare_back(pair, dirfd);
	else if (pair->spare.is_open)
		unlinkat(dirfd, pair->temp.text, 0);
	close_file(&pair->spare);
	pair->n_blanks = 0;
}

/* Forgets the perf map in its place; it is not the collector's if another program wrote to it. */
static void forget_shown(struct perf_map_pair *pair)
{
	struct stat st;

	if (pair->shown.is_open && fstat(pair->shown.fd, &st) == 0 && st.st_nlink > 0 &&
	    is_written_since(&pair->shown, &st))
		perf_map_yield(pair->shown.fd, pair->shown.size);
	close_file(&pair->shown);
}

void perf_map_pair_reset(struct perf_map_pair *pair, int dirfd)
{
	perf_map_pair_drop_spare(pair, dirfd);
	forget_shown(pair);
	map64_fini(&pair->lines);
	pair->lines = (struct map64){0};
	pair->blanked = 0;
}

/* Makes the spare equal to the shown map. */
static bool catch_up(struct perf_map_pair *pair)
{
	const struct perf_map_file *shown = &pair->shown, *spare = &pair->spare;
	bool is_equal;

	if (pair->n_blanks > PERF_MAP_PAIR_MAX_BLANKS || spare->size > shown->size ||
	    !is_as_left(spare) || !nobody_has_open(spare->fd))
		return false;
	is_equal = copy_range(shown->fd, spare->fd, spare->size, shown->size);
	for (size_t i = 0; i < pair->n_blanks && is_equal; i++)
		is_equal = perf_map_pair_blank(spare->fd, pair->blanks[i]) == 0;
	pair->spare = file_of(spare->fd);
	return is_equal;
}

static int copy_shown(struct perf_map_pair *pair, int dirfd, pid_t pid,
		      struct perf_map_name *ret_temp)
{
	const int fd = perf_map_pair_create(dirfd, pid, ret_temp);

	if (fd < 0)
		return fd;
	if (copy_range(pair->shown.fd, fd, 0, pair->shown.size) && fchmod(fd, 0644) == 0)
		return fd;
	unlinkat(dirfd, ret_temp->text, 0); /* some file systems cannot copy */
	close(fd);
	return -EOPNOTSUPP;
}

int perf_map_pair_begin(struct perf_map_pair *pair, int dirfd, pid_t pid,
			struct perf_map_name *ret_temp)
{
	int fd = -1;

	if (is_as_left(&pair->shown)) {
		if (catch_up(pair)) {
			fd = pair->spare.fd;
			*ret_temp = pair->temp;
			pair->spare = (struct perf_map_file){0};
			pair->reuses++;
		} else {
			perf_map_pair_drop_spare(pair, dirfd);
			fd = copy_shown(pair, dirfd, pid, ret_temp);
			pair->copies += fd >= 0;
		}
	}
	if (fd < 0)
		perf_map_pair_reset(pair, dirfd);
	pair->n_blanks = 0;
	return fd < 0 ? -ENOENT : fd;
}

/* Gives the file one of the two names. Returns what perf_map_put does. */
static int put(struct perf_map_pair *pair, int dirfd, const struct perf_map_name *temp, pid_t pid,
	       bool *ret_beside)
{
	const struct perf_map_known known = {pair->shown.dev, pair->shown.ino};
	const struct perf_map_known *const ours = pair->shown.is_open ? &known : NULL;
	const struct perf_map_name name = perf_map_name_of(pid), beside = perf_map_name_beside(pid);
	int left = perf_map_put(dirfd, temp, &name, ours);

	*ret_beside = left == -EEXIST;
	if (left == -EEXIST)
		left = perf_map_put(dirfd, temp, &beside, ours);
	else if (left >= 0 && (!pair->is_placed || pair->is_beside))
		perf_map_remove(dirfd, &beside, ours);
	return left;
}

int perf_map_pair_publish(struct perf_map_pair *pair, int dirfd, int fd,
			  const struct perf_map_name *temp, pid_t pid)
{
	bool is_beside;
	int left;

	if (!is_as_left(&pair->shown))
		forget_shown(pair);
	left = put(pair, dirfd, temp, pid, &is_beside);
	if (left < 0)
		return left;
	if (left && is_that_file(dirfd, temp, &pair->shown)) {
		pair->spare = pair->shown;
		pair->temp = *temp;
	} else {
		if (left)
			unlinkat(dirfd, temp->text, 0);
		close_file(&pair->shown);
	}
	pair->shown = file_of(fd);
	pair->is_beside = is_beside;
	pair->is_placed = true;
	return 0;
}
