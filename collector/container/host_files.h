// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   paths of small files of the host -> their bytes, read without leaving the root directory
 * units:   bytes
 * threads: any
 * errors:  negative errno
 * source:  openat2(2)
 *
 * Parts of the host's files are hostile: container engines write names that containers chose, and
 * engines of ordinary users belong to these users. The path of a directory may have symbolic links,
 * which administrators use, but does not leave the root directory. Within the directory no symbolic
 * link is followed. Only regular files are opened, and no read waits.
 */
#ifndef FG_CONTAINER_HOST_FILES_H
#define FG_CONTAINER_HOST_FILES_H

#include <dirent.h>
#include <stddef.h>
#include <sys/types.h>

/* A descriptor of the directory at path below root_fd; the caller closes it. */
int host_dir_open(int root_fd, const char *path);

/*
 * Reads a whole file below a directory into *ret, terminated, which the caller frees. Returns the
 * length. -EFBIG: longer than max_bytes; -EINVAL: no regular file; -ELOOP: a symbolic link;
 * -EAGAIN: the file grows while it is read.
 */
ssize_t host_file_read(int dir_fd, const char *path, size_t max_bytes, char **ret);

/* Opens the directory at path below root_fd for readdir; the caller closes it. NULL and errno. */
DIR *host_dir_list(int root_fd, const char *path);

#endif
