// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's mappings -> the path at which its agent listens
 * units:   bytes
 * threads: any
 * errors:  negative errno; a path that is not valid is ignored
 * source:  shared/README.md, "Transport"; proc_pid_maps(5)
 *
 * An agent that listens says so in the name of a memory region. The process chooses this name, so
 * the path is hostile: the collector only tries to connect there (dial.h).
 */
#ifndef FG_INTAKE_BEACON_H
#define FG_INTAKE_BEACON_H

#include <stdbool.h>
#include <stddef.h>

#define BEACON_PATH_BYTES 108 /* sun_path with its terminator, unix(7) */
#define BEACON_MAX_BYTES  (16u << 20)

/* Whether one of the whole lines of /proc/<pid>/maps in text has the path. */
bool beacon_find(const char *text, size_t len, char ret_path[BEACON_PATH_BYTES]);

/*
 * Reads the mappings of the process whose directory in /proc is open. Returns 0; -ENOENT if no
 * agent listens in the process; -EFBIG if its maps have more than BEACON_MAX_BYTES.
 */
int beacon_read(int proc_fd, char ret_path[BEACON_PATH_BYTES]);

#endif
