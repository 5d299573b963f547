// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a path below a root directory, which is not left -> a descriptor
 * units:   PIDs as the caller sees them
 * threads: any that may wait, and those without the right to wait as said below
 * errors:  negative errno; -ELOOP, -EXDEV: a link that is not followed, or a path out of the root
 * source:  openat2(2), open(2) O_PATH, proc(5) root
 *
 * The files below the root directory are hostile, because a container chooses them. With
 * RESOLVE_IN_ROOT symbolic links are resolved within the root directory; magic links of /proc are
 * never followed. O_PATH does not open a file, so FIFOs and devices do no harm. A file opened for
 * reading does not wait and does not become the controlling terminal. The caller closes
 * descriptors.
 *
 * A file system may never answer. So what may ask one is a call of base/reach.h, but for a path of
 * O_PATH with RESOLVE_CACHED. A root directory may have to be waited for as well, as
 * base/process_stat.h says: the loop's thread calls all of these in guarded calls only.
 */
#ifndef FG_BASE_ROOT_FILE_H
#define FG_BASE_ROOT_FILE_H

#include "base/reach.h"

#include <linux/openat2.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Opens the root directory of a process, with O_PATH. */
int root_file_open_root(pid_t pid);

/* resolve: RESOLVE_IN_ROOT or RESOLVE_BENEATH, and other flags of openat2(2). */
int root_file_open_at(int root_fd, const char *path, int flags, uint64_t resolve);
/* Opens a file in the root directory of a process, with RESOLVE_IN_ROOT. */
int root_file_open(pid_t pid, const char *path, int flags);

/* Opens a regular file for reading. -EINVAL for any other kind of file, which is not opened. */
int root_file_open_regular(int root_fd, const char *path, uint64_t resolve, struct stat *ret_stat);

/*
 * Of a file in a directory that the collector writes to itself, in the caller's thread, which may
 * be the loop's: there nobody waits for a process that makes a call. Neither a link nor a mount in
 * the file's place is followed, so that no other file system is asked: -ELOOP, -EXDEV.
 */
int root_file_open_beside(int dirfd, const char *name); /* with O_PATH */
int root_file_read_beside(int path_fd);
int root_file_stat_beside(int dirfd, const char *name, struct stat *ret);

/* Opens for reading the file of path_fd (O_PATH), even if another file has its name by now. */
int root_file_read(int path_fd);
/* The same for somebody else: the collector has no file open that is another's, see reach.h. */
int root_file_hand(int path_fd, const struct reach_target *target);

/*
 * What the kernel knows of an open file, or of one with O_PATH, without asking its file system:
 * device, inode, kind, user, size and times.
 */
int root_file_stat(int fd, struct stat *ret);

#endif
