// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process's mappings -> the path at which its agent listens
 * units:   bytes
 * threads: any
 * errors:  negative errno; a path that is none is as good as no path
 * source:  shared/README.md, "Transport"; proc_pid_maps(5)
 *
 * What is read is the process's own word, good for nothing but to try what it says.
 */
#ifndef FG_INTAKE_BEACON_H
#define FG_INTAKE_BEACON_H

#include <stdbool.h>
#include <stddef.h>

#define BEACON_PATH_BYTES 108 /* sun_path with its terminator, unix(7) */
#define BEACON_MAX_BYTES  (16u << 20)

/* Whether one of the whole lines of text says it. */
bool beacon_find(const char *text, size_t len, char ret_path[BEACON_PATH_BYTES]);

/*
 * Of the process whose directory in /proc is open: 0, -ENOENT if it does not listen, -EFBIG if it
 * has more than BEACON_MAX_BYTES of mappings.
 */
int beacon_read(int proc_fd, char ret_path[BEACON_PATH_BYTES]);

#endif
