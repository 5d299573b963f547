// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a directory that looks like /proc, with processes of a test's making
 * units:   clock ticks, as in field 22 of a stat file
 * threads: one
 * errors:  a failed step fails the test
 * source:  proc(5)
 *
 * PIDs are real ones where a test connects: who listens is asked of the kernel.
 */
#ifndef FAKE_PROC_H
#define FAKE_PROC_H

#include "common/temp_dir.h"

#include <stdint.h>
#include <sys/types.h>

extern char fake_proc[TEMP_DIR_BYTES]; /* its path; beside it lies a root for all */
extern char fake_root[96];

void fake_proc_make(void);
void fake_proc_remove(void);

/* maps NULL: a text without a listening agent. exe is the path of its program. */
void fake_proc_add(pid_t pid, uint64_t ticks, const char *exe, const char *maps);
/* That the process listens at the path, if it is not NULL. */
void fake_proc_add_listening(pid_t pid, uint64_t ticks, const char *path);
void fake_proc_drop(pid_t pid);
/* As fake_proc_drop, and whatever has that PID next has another inode, as in /proc. */
void fake_proc_set_aside(pid_t pid);

#endif
