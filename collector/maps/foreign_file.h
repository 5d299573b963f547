// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process -> the perf map that it wrote itself, open
 * units:   PIDs; seconds of the wall clock
 * threads: any
 * errors:  -ENOENT: it wrote none; another negative errno: there is something, and it was refused
 * source:  openat2(2), proc(5), linux tools/perf/Documentation/jit-interface.txt
 *
 * Looked for, in this order: /tmp/perf-<inner PID>.map and, if the process has a TMPDIR, the same
 * name there, both within the process's root; then /tmp/perf-<PID>.map of this collector's own file
 * system, where tools put maps of containers' processes. A file system of a container is hostile
 * ground: paths cannot lead out of it, nothing but a regular file is opened, and that only if it
 * belongs to the process's user or to root, for anybody may write to /tmp. A map that was last
 * written before the process began is another's, who had the same PID. Maps of this program's own
 * are known by their first line and are left alone.
 */
#ifndef FG_MAPS_FOREIGN_FILE_H
#define FG_MAPS_FOREIGN_FILE_H

#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

struct foreign_owner {
	pid_t pid, inner_pid;
	time_t began_at; /* when it began to run its program */
};

/*
 * A descriptor for reading that never waits, and what it is. -EACCES: of another user; -EINVAL: no
 * regular file; -ESTALE: older than the process; -EEXIST: ours.
 */
int foreign_file_open(const struct foreign_owner *owner, struct stat *ret_stat);

/* One candidate: path below the directory that root_path names. */
int foreign_file_open_at(const char *root_path, const char *path, const struct foreign_owner *owner,
			 struct stat *ret_stat);

#endif
