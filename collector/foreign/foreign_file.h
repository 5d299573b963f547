// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process -> a descriptor of the perf map that its runtime writes
 * units:   PIDs; seconds of the wall clock
 * threads: any
 * errors:  -ENOENT: there is no file; another negative errno: there is a file, and it was refused
 * source:  openat2(2), proc(5), linux tools/perf/Documentation/jit-interface.txt
 *
 * The perf map is looked for in this order: /tmp/perf-<inner PID>.map; $TMPDIR/perf-<inner PID>.map
 * if the process has a TMPDIR; both within the process's root directory; then /tmp/perf-<PID>.map
 * in the collector's own file system, where tools put maps of containers' processes.
 *
 * Files of a container are hostile. Paths cannot lead out of the container's root directory. Only a
 * regular file of the process's user or of root is opened, because every user may write to /tmp. A
 * perf map that was last written before the process began belongs to an earlier process with this
 * PID. The collector's own perf maps are known by their first line and are not opened.
 */
#ifndef FG_FOREIGN_FOREIGN_FILE_H
#define FG_FOREIGN_FOREIGN_FILE_H

#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

struct foreign_owner {
	pid_t pid, inner_pid;
	time_t began_at; /* when the process began to run its program */
};

/*
 * Returns a descriptor with O_PATH, which whoever reads opens again in a process of its own
 * (guard/reader.h), and sets ret_stat to the file's status. -EACCES: a file of another user;
 * -EINVAL: no regular file; -ESTALE: older than the process; -EEXIST: written by the collector.
 */
int foreign_file_open(const struct foreign_owner *owner, struct stat *ret_stat);

/* Opens one candidate: path below the directory root_path. */
int foreign_file_open_at(const char *root_path, const char *path, const struct foreign_owner *owner,
			 struct stat *ret_stat);

#endif
