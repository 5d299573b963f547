// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   nothing -> a child process that does nothing -> its end
 * units:   none
 * threads: a child ends with the thread that has started it
 * errors:  the test fails
 * source:  fork(2), prctl(2), waitpid(2)
 */
#ifndef FG_TESTS_COMMON_CHILD_H
#define FG_TESTS_COMMON_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* A copy of this process, which waits to be ended. */
pid_t child_start(void);
/* Kills and reaps a child, whoever has started it. */
void child_end(pid_t pid);
/* A PID that was a child's, which has been reaped. */
pid_t child_gone(void);
/* Waits for a child, which has to exit with 0. */
void child_check(pid_t pid);

/* True if this process, which was root's, has no right any more: for children. */
bool child_becomes_nobody(void);

#endif
