// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's mapping -> a descriptor (O_PATH) of the file behind it
 * units:   none
 * threads: any
 * errors:  negative errno with a reason, a short static text; -ENOENT: the process or the file is
 *          gone
 * source:  proc(5) root and map_files, openat2(2), open(2) O_PATH, vdso(7)
 *
 * With CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN, /proc/<pid>/map_files leads to the mapped file,
 * even if it has been deleted or replaced. Otherwise the file is looked for at its path. The path
 * is hostile: the process may put another file, a FIFO, a device or a symbolic link there. So the
 * path is resolved inside of the process's root directory without opening the file, and the file is
 * taken only if it is the regular file that the kernel says is mapped.
 *
 * A file system may be one that the process serves itself (FUSE), or one of the network, and may
 * never answer. With the right to map_files, no file system is asked to find a file. To read the
 * file may have to wait.
 */
#ifndef FG_FILES_MODULE_FILE_H
#define FG_FILES_MODULE_FILE_H

#include "memory/address_space.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Returns a descriptor (O_PATH: it holds the file but cannot be read), which the caller closes, and
 * sets ret_stat to the file's device, inode, kind, size and times. root_file_read opens the file
 * for reading, and may wait for its file system.
 */
int module_file_open(pid_t pid, const struct mapping *mapping, struct stat *ret_stat,
		     const char **ret_reason);

/* Whether size and times of the file are still those of st. */
bool module_file_is_same(int path_fd, const struct stat *st);
/* The same without ctime, which changes with the file's names. */
bool module_file_has_same_bytes(int path_fd, const struct stat *st);

/*
 * A descriptor of a copy of the collector's own vDSO, which all processes of 64 bits have; the
 * caller closes it.
 */
int module_file_open_vdso(void);

#endif
