// SPDX-License-Identifier: Apache-2.0
/* Finds the file that is mapped, and no other file, see module_file.h. */
#include "files/module_file.h"

#include "base/cleanup.h"
#include "base/root_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MAX_VDSO_BYTES (1u << 20)

static const char *reason_of(int err)
{
	switch (err) {
	case -ENOENT:
	case -ENOTDIR:
	case -ESRCH:
		return "file is gone";
	case -EACCES:
	case -EPERM:
		return "permission denied";
	case -EMFILE:
	case -ENFILE:
		return "too many open files";
	case -ENOMEM:
		return "out of memory";
	case -ESTALE:
		return "not the mapped file";
	case -EINVAL:
		return "not a regular file";
	case -EAGAIN:
		return "its file system does not answer at once";
	case -ELOOP:
	case -EXDEV:
		return "path leads out of the container";
	default:
		return "cannot be opened";
	}
}

/*
 * Whether stat(2) gives another device than the mapping has, as on overlayfs and btrfs. A btrfs
 * inode number may occur once in each subvolume, so a match on btrfs is very likely right, but not
 * certain.
 */
static bool has_private_device(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
	       (fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_type == BTRFS_SUPER_MAGIC);
}

/*
 * Checks that the file is the mapped one. path_fd refers to the file without having opened it
 * (O_PATH).
 */
static int check_identity(int path_fd, const struct mapping *mapping)
{
	struct stat st = {0};
	int err = root_file_stat(path_fd, &st);

	if (err)
		return err;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_ino != mapping->inode)
		return -ESTALE;
	if (st.st_dev == makedev(mapping->dev_major, mapping->dev_minor))
		return 0;
	return has_private_device(path_fd) ? 0 : -ESTALE;
}

/*
 * Opens the mapped file itself, deleted or not, by its link in map_files. Only the file's kind is
 * checked.
 */
static int open_map_file(pid_t pid, const struct mapping *mapping)
{
	_cleanup_close_ int fd = -1;
	struct stat st = {0};
	char path[96];
	int ret;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, mapping->start,
		 mapping->end);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = root_file_stat(fd, &st);
	if (ret < 0)
		return ret;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	ret = fd;
	fd = -1;
	return ret;
}

/*
 * Opens the file at the mapping's path. Each part of a mapped file's path is in the kernel's
 * memory, and no part is a link. So with the right to map_files other paths are refused, and no
 * file system is waited for. Without that right the path is the only way, and the processes are the
 * user's own.
 */
static int open_by_path(pid_t pid, const struct mapping *mapping, bool has_right)
{
	const uint64_t resolve =
		RESOLVE_IN_ROOT | (has_right ? RESOLVE_CACHED | RESOLVE_NO_SYMLINKS : 0);
	_cleanup_close_ int root = -1, fd = -1;
	int ret;

	if (mapping->is_deleted)
		return -ENOENT;
	root = root_file_open_root(pid);
	fd = root < 0 ? root : root_file_open_at(root, mapping->path, O_PATH, resolve);
	if (fd < 0)
		return fd;
	ret = check_identity(fd, mapping);
	if (ret < 0)
		return ret;
	ret = fd;
	fd = -1;
	return ret;
}

/*
 * Whether the file has the mapping's inode number. Some file systems give a mapping another number,
 * and another file may be mapped by now.
 */
static bool is_numbered_so(int path_fd, const struct mapping *mapping)
{
	struct stat st = {0};

	return root_file_stat(path_fd, &st) == 0 && st.st_ino == mapping->inode;
}

static int open_mapped(pid_t pid, const struct mapping *mapping)
{
	const int mapped = open_map_file(pid, mapping);
	int fd;

	if (mapped >= 0 && is_numbered_so(mapped, mapping))
		return mapped;
	fd = open_by_path(pid, mapping, mapped != -EPERM && mapped != -EACCES);
	if (mapped < 0)
		return fd; /* the path's error says more than the error of map_files */
	if (fd < 0)
		return mapped;
	close(mapped);
	return fd;
}

int module_file_open(pid_t pid, const struct mapping *mapping, struct stat *ret_stat,
		     const char **ret_reason)
{
	const int fd = open_mapped(pid, mapping);
	const int err = fd < 0 ? fd : root_file_stat(fd, ret_stat);

	if (err == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	*ret_reason = reason_of(err);
	return err;
}

static bool are_bytes_same(const struct stat *now, const struct stat *st)
{
	return now->st_size == st->st_size && now->st_mtim.tv_sec == st->st_mtim.tv_sec &&
	       now->st_mtim.tv_nsec == st->st_mtim.tv_nsec;
}

bool module_file_is_same(int path_fd, const struct stat *st)
{
	struct stat now = {0};

	return root_file_stat(path_fd, &now) == 0 && are_bytes_same(&now, st) &&
	       now.st_ctim.tv_sec == st->st_ctim.tv_sec &&
	       now.st_ctim.tv_nsec == st->st_ctim.tv_nsec;
}

bool module_file_has_same_bytes(int path_fd, const struct stat *st)
{
	struct stat now = {0};

	return root_file_stat(path_fd, &now) == 0 && are_bytes_same(&now, st);
}

/* The length of the collector's own vDSO: a whole ELF file with the sections last. 0: no vDSO. */
static size_t find_vdso_bytes(const unsigned char *vdso)
{
	const ElfW(Ehdr) *header = (const void *)vdso;
	size_t bytes;

	if (!vdso || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return 0;
	bytes = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	for (unsigned i = 0; i < header->e_phnum; i++) {
		const ElfW(Phdr) *segment =
			(const void *)(vdso + header->e_phoff + (size_t)i * header->e_phentsize);

		if (segment->p_type == PT_LOAD && segment->p_offset + segment->p_filesz > bytes)
			bytes = segment->p_offset + segment->p_filesz;
	}
	return bytes <= MAX_VDSO_BYTES ? bytes : 0;
}

int module_file_open_vdso(void)
{
	/* NOLINTNEXTLINE: the kernel gives the address as a number. */
	const unsigned char *vdso = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
	const size_t bytes = find_vdso_bytes(vdso);
	int fd, err;
	ssize_t written;

	if (bytes == 0)
		return -ENOENT;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	written = write(fd, vdso, bytes);
	if (written == (ssize_t)bytes)
		return fd;
	err = written < 0 ? -errno : -EIO;
	close(fd);
	return err;
}
