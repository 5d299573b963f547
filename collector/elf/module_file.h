// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's mapping -> the file behind it, open for reading
 * units:   none
 * threads: any
 * errors:  negative errno with a reason, a short static text; -ENOENT: the process or the file is
 *          gone
 * source:  proc(5) root and map_files, openat2(2), open(2) O_PATH, vdso(7)
 *
 * The path belongs to the target, which may put anything there: another file, a FIFO, a device, a
 * link out of its container. So it is resolved inside of the target's root without opening it, then
 * looked at, and opened only if it is the regular file that the kernel says is mapped. Where the
 * path does not lead there, /proc/<pid>/map_files does, given CAP_CHECKPOINT_RESTORE or
 * CAP_SYS_ADMIN.
 */
#ifndef FG_ELF_MODULE_FILE_H
#define FG_ELF_MODULE_FILE_H

#include "target/address_space.h"

#include <sys/stat.h>
#include <sys/types.h>

/* A file descriptor, which the caller closes, and what fstat says of it. */
int module_file_open(pid_t pid, const struct mapping *mapping, struct stat *ret_stat,
		     const char **ret_reason);

/* A copy of this process's own vDSO, which is every process's: a descriptor the caller closes. */
int module_file_open_vdso(void);

#endif
