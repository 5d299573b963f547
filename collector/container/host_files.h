// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   paths of small files of the host -> their bytes, if only the right user may write them
 * units:   bytes
 * threads: any
 * errors:  negative errno; -EPERM: another user may write the file, or a directory above it
 * source:  openat(2), stat(2), sticky bit in inode(7), fstatfs(2), openat2(2)
 *
 * A file is believed if its owner is the right one and nobody else may write it. The directories
 * above it have to be of the same kind, up to the root directory: who may write a directory may put
 * another file in place. A directory in which everybody may make files, but only remove their own
 * (the sticky bit, as /tmp has it), is good enough above another directory of the owner.
 *
 * Symbolic links above a directory are followed if they are the owner's, because administrators
 * use such links. Below that directory no link is followed. A FUSE file system says of its files
 * what its maker wants, and an overlay shows files of a container: no file on such is believed,
 * unless the root directory is on the same one. Only regular files are opened, and no read waits.
 */
#ifndef FG_CONTAINER_HOST_FILES_H
#define FG_CONTAINER_HOST_FILES_H

#include <dirent.h>
#include <stddef.h>
#include <sys/types.h>

#define HOST_FILES_MAX_LINKS 16 /* in one path */

/* A descriptor (O_PATH) of the directory at path below root_fd; the caller closes it. */
int host_dir_open(int root_fd, const char *path, uid_t owner);

/*
 * As host_dir_open, for a path that a user has chosen who is not the owner of the root directory:
 * only its files have to be the user's. No link is followed.
 */
int host_dir_open_of_user(int root_fd, const char *path);

/*
 * Reads a whole file below a directory into *ret, terminated, which the caller frees. Returns the
 * length. -EFBIG: longer than max_bytes; -EINVAL: no regular file; -ELOOP: a symbolic link;
 * -EAGAIN: the file grows while it is read.
 */
ssize_t host_file_read(int dir_fd, const char *path, uid_t owner, size_t max_bytes, char **ret);

/* Opens a directory of host_dir_open for readdir; the caller closes it. NULL and errno. */
DIR *host_dir_list(int dir_fd);

#endif
