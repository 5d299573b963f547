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
#ifndef FG_INTAKE_ANNOUNCEMENT_H
#define FG_INTAKE_ANNOUNCEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ANNOUNCEMENT_PATH_BYTES 108 /* sun_path with its terminator, unix(7) */
#define ANNOUNCEMENT_MAX_BYTES	(16u << 20)
#define ANNOUNCEMENT_READ_NS	UINT64_C(20000000)

/* Whether one of the whole lines of /proc/<pid>/maps in text has the path. */
bool announcement_find(const char *text, size_t len, char ret_path[ANNOUNCEMENT_PATH_BYTES]);

struct announcement; /* opaque: a search that may go on */

/* A search in the process whose directory in /proc is open. NULL without memory or descriptors. */
struct announcement *announcement_new(int proc_fd, pid_t pid);
/*
 * Searches on for about so long. 1: there is more to search. Anything else ends and frees the
 * search, and sets *announcement to NULL. 0: found; -ENOENT if no agent listens in the process;
 * -EFBIG if its maps have more than ANNOUNCEMENT_MAX_BYTES; -ETIMEDOUT if the kernel does not
 * answer.
 */
int announcement_step(struct announcement **announcement, uint64_t for_ns,
		      char ret_path[ANNOUNCEMENT_PATH_BYTES]);
void announcement_free(struct announcement *announcement); /* NULL is legal */

/*
 * Searches for at most ANNOUNCEMENT_READ_NS. -EAGAIN: there was more to search; else as
 * announcement_step.
 */
int announcement_read(int proc_fd, pid_t pid, char ret_path[ANNOUNCEMENT_PATH_BYTES]);

#endif
