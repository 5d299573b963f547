// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   small files of a tree of directories, read without ever leaving it
 * units:   bytes
 * threads: any
 * errors:  negative errno
 * source:  openat2(2)
 *
 * The tree is the host's, and parts of it are written by container engines with what containers
 * chose, or, where users run engines without root, by users. The way to a directory may lead over
 * symbolic links, which administrators use, but stays below the tree's root; within a directory no
 * link is followed at all. Nothing but a regular file is opened, and no read ever waits.
 */
#ifndef FG_CONTAINER_HOST_FILES_H
#define FG_CONTAINER_HOST_FILES_H

#include <dirent.h>
#include <stddef.h>
#include <sys/types.h>

/* A descriptor of the directory at path, as seen from the tree's root; the caller closes it. */
int host_dir_open(int root_fd, const char *path);

/*
 * All of a file below a directory, terminated, into *ret, which the caller frees; its length.
 * -EFBIG if it is longer than max_bytes; -EINVAL if it is no regular file, -ELOOP if it is a link.
 */
ssize_t host_file_read(int dir_fd, const char *path, size_t max_bytes, char **ret);

/* To read the names in a directory; NULL and errno. The caller closes it. */
DIR *host_dir_list(int root_fd, const char *path);

#endif
