// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a list of system calls -> a seccomp filter of this process
 * units:   numbers of system calls
 * threads: a filter of a parser holds for the calling thread, which must be the only one; the
 *          collector's own filter for all threads
 * errors:  negative errno
 * source:  seccomp(2), linux/filter.h
 *
 * A filter cannot be taken back, and holds for all processes and threads that are started later.
 * PR_SET_NO_NEW_PRIVS has to be set, or CAP_SYS_ADMIN to be effective.
 */
#ifndef FG_CONFINE_SYSCALL_FILTER_H
#define FG_CONFINE_SYSCALL_FILTER_H

#include <stdbool.h>

/*
 * For a process that parses: it reads and writes what it has open, receives descriptors, and
 * allocates memory that is not executable. Any other call ends the process by SIGSYS. opens_fail: a
 * call that opens a path fails with EACCES instead, for libraries that open files when they find
 * their names.
 */
int syscall_filter_parser(bool opens_fail);

/*
 * For the collector: calls that the collector never makes fail with EPERM. These are calls that
 * start a program, write to another process's memory or trace it, that reach BPF programs of
 * others, and that change the host.
 */
int syscall_filter_collector(void);

#endif
