// SPDX-License-Identifier: Apache-2.0
/* Opens what a mapping maps, and nothing else; see module_file.h. */
#include "elf/module_file.h"

#include "base/cleanup.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
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
	case -ELOOP:
	case -EXDEV:
		return "path leads out of the container";
	default:
		return "cannot be opened";
	}
}

/*
 * overlayfs and btrfs give stat(2) another device than they give the mapping. A btrfs inode number
 * may occur once a subvolume, so that a match there is very likely right, not certain.
 */
static bool has_private_device(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
	       (fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_type == BTRFS_SUPER_MAGIC);
}

/* path_fd refers to a file without having opened it (O_PATH). */
static int check_identity(int path_fd, const struct mapping *mapping)
{
	struct stat st;

	if (fstat(path_fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_ino != mapping->inode)
		return -ESTALE;
	if (st.st_dev == makedev(mapping->dev_major, mapping->dev_minor))
		return 0;
	return has_private_device(path_fd) ? 0 : -ESTALE;
}

static int open_in_root(pid_t pid, const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	_cleanup_close_ int root = -1;
	char root_path[32];
	int fd;

	snprintf(root_path, sizeof(root_path), "/proc/%d/root", pid);
	root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

/* The link leads to the very file that is mapped, deleted or not; only its kind is to be checked.
 */
static int open_map_file(pid_t pid, const struct mapping *mapping)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	char path[96];
	int ret;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, mapping->start,
		 mapping->end);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	ret = fd;
	fd = -1;
	return ret;
}

static int open_by_path(pid_t pid, const struct mapping *mapping)
{
	_cleanup_close_ int fd = -1;
	int ret;

	if (mapping->is_deleted)
		return -ENOENT;
	fd = open_in_root(pid, mapping->path);
	if (fd < 0)
		return fd;
	ret = check_identity(fd, mapping);
	if (ret < 0)
		return ret;
	ret = fd;
	fd = -1;
	return ret;
}

/* A descriptor that can be read, of the same file; never waits for a writer or a carrier. */
static int reopen(int path_fd)
{
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int module_file_open(pid_t pid, const struct mapping *mapping, struct stat *ret_stat,
		     const char **ret_reason)
{
	_cleanup_close_ int path_fd = open_by_path(pid, mapping);
	const int path_err = path_fd;
	int fd;

	/* That the path is no good says more than that map_files may not be used. */
	if (path_fd < 0)
		path_fd = open_map_file(pid, mapping);
	fd = path_fd < 0 ? path_err : reopen(path_fd);
	if (fd >= 0 && fstat(fd, ret_stat) < 0) {
		const int err = -errno;

		close(fd);
		fd = err;
	}
	if (fd < 0)
		*ret_reason = reason_of(fd);
	return fd;
}

/* Bytes of our own vDSO: a whole ELF file, sections last. 0 if there is none. */
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
