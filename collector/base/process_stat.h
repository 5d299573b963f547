// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   PID -> the process's start time, names and code size in /proc
 * units:   clock ticks since boot, as the kernel counts them
 * threads: any
 * errors:  -ESRCH: the process is gone; another negative errno: not known whether it is gone
 * source:  proc_pid_stat(5), proc_pid_status(5)
 */
#ifndef FG_BASE_PROCESS_STAT_H
#define FG_BASE_PROCESS_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/*
 * The process's start time, field 22 of /proc/<pid>/stat, which tells the process from a later one
 * with its PID. -ESRCH if there is no such process, or only its zombie without living threads. Any
 * other error, EMFILE for instance, says nothing of the process.
 */
int process_stat_start_ticks(pid_t pid, uint64_t *ret);

/* The start time of the process whose directory in /proc is open; never that of a later process. */
int process_stat_start_ticks_at(int proc_fd, uint64_t *ret);

/* When the process began, by the wall clock as it is set now; 0 if there is no such process. */
time_t process_stat_started_at(pid_t pid);

/* How long ago a process with that start time began, in clock ticks' precision. */
uint64_t process_stat_ticks_age_ns(uint64_t ticks);
/* How long ago the process began, in clock ticks' precision; UINT64_MAX if there is none. */
uint64_t process_stat_age_ns(pid_t pid);

/* The PID of the process that the thread is one of; the PID itself for a PID; 0: gone. */
pid_t process_stat_pid_of(pid_t tid);

/* The thread ID (the PID if tid is pid) in the process's innermost PID namespace; 0: gone. */
pid_t process_stat_inner_pid(pid_t pid, pid_t tid);

/*
 * The bytes of the process's executable memory that is not writable, VmExe and VmLib of
 * /proc/<pid>/status: they change when a library comes or goes. 0: gone, or a thread of the kernel.
 */
uint64_t process_stat_code_bytes(pid_t pid);

/* The thread's start time in ticks, and its comm, terminated; false if the thread is gone. */
bool process_stat_thread(pid_t pid, pid_t tid, uint64_t *ret_ticks, char *ret_comm, size_t size);

/* The thread's comm without its newline, "" if the thread is gone. tid may equal pid. */
void process_stat_comm(pid_t pid, pid_t tid, char *ret, size_t size);

#endif
