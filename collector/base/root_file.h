// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a path below a directory that is not to be left -> a descriptor
 * units:   PIDs as the caller sees them
 * threads: any
 * errors:  negative errno; -ELOOP, -EXDEV: a link that is not to be followed, or the way leads out
 * source:  openat2(2), open(2) O_PATH, proc(5) root
 *
 * What lies there is a container's to choose. Links are followed as in a root of one's own, unless
 * told otherwise, and never magic ones. With O_PATH nothing is opened, so that FIFOs and devices do
 * no harm; what is opened for reading does not wait and becomes no terminal. The caller closes.
 */
#ifndef FG_BASE_ROOT_FILE_H
#define FG_BASE_ROOT_FILE_H

#include <linux/openat2.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The root directory of a process, to open files in. */
int root_file_open_root(pid_t pid);

/* resolve: RESOLVE_IN_ROOT or RESOLVE_BENEATH, and what else of openat2's is wanted. */
int root_file_open_at(int root_fd, const char *path, int flags, uint64_t resolve);
/* In the root of a process. */
int root_file_open(pid_t pid, const char *path, int flags);

/* For reading, if it is a regular file; -EINVAL if not, and then nothing was opened. */
int root_file_open_regular(int root_fd, const char *path, uint64_t resolve, struct stat *ret_stat);

/* The very file that path_fd (O_PATH) refers to, for reading, whatever has its name by now. */
int root_file_read(int path_fd);

#endif
