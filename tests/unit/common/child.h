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
#include <stdint.h>
#include <sys/types.h>

/* Starts a copy of this process. The copy waits for its end. */
pid_t child_start(void);
/* Kills and reaps a child, whoever has started it. */
void child_end(pid_t pid);
/* Returns the PID of a child that has ended and was reaped. */
pid_t child_gone(void);
/* Waits for a child's exit. The test fails if its code is not 0. */
void child_check(pid_t pid);

/* Takes every right from a child of root's. Returns false if that failed. */
bool child_becomes_nobody(void);
/* Leaves these ones alone: bit CAP_BPF is that right, and so on. */
bool child_becomes_nobody_with(uint64_t capabilities);

#endif
