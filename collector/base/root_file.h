// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a path as a process sees it -> a descriptor
 * units:   PIDs as the caller sees them
 * threads: any
 * errors:  negative errno
 * source:  openat2(2)
 *
 * Links are followed as the process would, but never out of its root, and no magic ones. With
 * O_PATH nothing is opened, so that FIFOs and devices do no harm.
 */
#ifndef FG_BASE_ROOT_FILE_H
#define FG_BASE_ROOT_FILE_H

#include <sys/types.h>

int root_file_open(pid_t pid, const char *path, int flags);

#endif
