// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   descriptions of processes -> a directory in the form of /proc
 * units:   none
 * threads: one at a time
 * errors:  the test fails
 * source:  proc(5)
 */
#ifndef FG_TESTS_CONTAINER_OWN_PROC_H
#define FG_TESTS_CONTAINER_OWN_PROC_H

#include <sys/types.h>

/* Makes the directory at path, with PID 1 in it. */
void own_proc_make(const char *path);

/* Adds a process in the namespaces of PID 1, with one open file. */
void own_proc_add(const char *path, int pid, const char *program, uid_t uid, const char *open_file);

/* Changes where a symbolic link of a process leads: "exe", "ns/mnt". */
void own_proc_link(const char *path, int pid, const char *name, const char *target);

/* Writes a file of a process: "status". */
void own_proc_write(const char *path, int pid, const char *name, const char *text);

#endif
