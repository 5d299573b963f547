// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's mapping -> the file behind it -> the same, open for reading
 * units:   none
 * threads: any
 * errors:  negative errno with a reason, a short static text; -ENOENT: the process or the file is
 *          gone
 * source:  proc(5) root and map_files, openat2(2), open(2) O_PATH, vdso(7)
 *
 * /proc/<pid>/map_files leads to the very file that is mapped, deleted or replaced as it may be,
 * given CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN. Where it does not, the path has to, and that
 * belongs to the target, which may put anything there: another file, a FIFO, a device, a link out
 * of its container. So it is resolved inside of the target's root without opening it, and taken if
 * it is the regular file that the kernel says is mapped.
 *
 * To find a file is not to open it: a file system may be one that the target serves itself (FUSE)
 * or a network's, and never answer. With the right to map_files none is asked; whoever reads has to
 * be ready to wait.
 */
#ifndef FG_FILES_MODULE_FILE_H
#define FG_FILES_MODULE_FILE_H

#include "memory/address_space.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * A descriptor of the file (O_PATH: it holds the file but cannot be read), which the caller closes,
 * and what is known of it: device, inode, kind, size and times. root_file_read opens it, and may
 * wait for its file system.
 */
int module_file_open(pid_t pid, const struct mapping *mapping, struct stat *ret_stat,
		     const char **ret_reason);

/* Whether size and times of the file are still as in st. */
bool module_file_is_same(int path_fd, const struct stat *st);

/* A copy of this process's own vDSO, which is every process's: a descriptor the caller closes. */
int module_file_open_vdso(void);

#endif
