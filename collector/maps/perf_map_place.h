// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a file with a temporary name -> the file has the name of a perf map
 * units:   bytes
 * threads: one at a time
 * errors:  negative errno
 * source:  rename(2) RENAME_EXCHANGE and RENAME_NOREPLACE, fcntl(2) F_SETLEASE, openat2(2)
 *
 * A JVM's process may have a second code generator, as CPython's or a library's own, that writes
 * perf-<pid>.map itself. The collector's perf map is then named perf-<pid>.map.fgcollect. A file
 * that is not the collector's is never replaced, moved or removed: neither another program's file,
 * nor a directory or a link, nor the collector's file once another program writes to it.
 *
 * The collector's are regular files that begin with MAP_MARKER and that no program has open
 * for writing. The kernel grants a read lease only on such a file.
 */
#ifndef FG_MAPS_PERF_MAP_PLACE_H
#define FG_MAPS_PERF_MAP_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct perf_map_name {
	char text[sizeof("perf--2147483648.map.0123456789abcdef")];
};

/* The name perf-<pid>.map. A dot and 16 digits follow while the perf map is being written. */
struct perf_map_name perf_map_name_of(pid_t pid);
/* The name perf-<pid>.map.fgcollect, for a perf map beside another program's. */
struct perf_map_name perf_map_name_beside(pid_t pid);
/* The PID in the name of a perf map or of its temporary file; 0 for any other name. */
pid_t perf_map_pid_of(const char *name, bool *ret_temp);

/* Whether another program has the file open for writing. fd: open for reading alone. */
bool perf_map_is_written(int fd);

/* A file that the caller knows as the collector's own, whoever has it open. */
struct perf_map_known {
	dev_t dev;
	ino_t ino;
};

/*
 * Gives the file the name. Returns 0 if nothing had the name; 1 if a file of the collector's had
 * it, which is at temp now; -EEXIST if something else has it, which stays as it is; an error of
 * which is_shortage holds if nothing was learnt of what has the name. known: may be NULL.
 */
int perf_map_put(int dirfd, const struct perf_map_name *temp, const struct perf_map_name *name,
		 const struct perf_map_known *known);
/* Removes the file with this name if it is the collector's. Returns whether it was. */
bool perf_map_remove(int dirfd, const struct perf_map_name *name,
		     const struct perf_map_known *known);

/*
 * Leaves the collector's file to another program that writes to it: the collector's lines, the
 * first ours bytes, become lines that readers skip. From then on the file is not the collector's.
 * fd: of any mode.
 */
int perf_map_yield(int fd, off_t ours);

#endif
