// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   PID -> what /proc says that tells one process from the next with the same PID
 * units:   clock ticks since boot, as the kernel counts them
 * threads: any
 * errors:  -ESRCH when the process is gone; another negative errno when that cannot be told
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
 * Field 22 of /proc/<pid>/stat. -ESRCH if there is no such process, or only a zombie of it without
 * living threads. Any other error, out of descriptors for one, says nothing of the process.
 */
int process_stat_start_ticks(pid_t pid, uint64_t *ret);

/* The same of the process whose directory in /proc is open, which no other one with its PID is. */
int process_stat_start_ticks_at(int proc_fd, uint64_t *ret);

/* When the process began, on the wall clock as it goes now; 0 if there is no such process. */
time_t process_stat_started_at(pid_t pid);

/* How long ago it began, to a hundredth of a second; UINT64_MAX if there is no such process. */
uint64_t process_stat_age_ns(pid_t pid);

/* The PID (or, with tid, the thread ID) in the process's own, innermost PID namespace; 0: gone. */
pid_t process_stat_inner_pid(pid_t pid, pid_t tid);

/*
 * What the kernel counts of a process's executable memory that is not writable, in bytes: it changes
 * when a library comes or goes. 0: gone, or a thread of the kernel.
 */
uint64_t process_stat_code_bytes(pid_t pid);

/* When a thread began, likewise in ticks, and its comm, terminated; false if it is gone. */
bool process_stat_thread(pid_t pid, pid_t tid, uint64_t *ret_ticks, char *ret_comm, size_t size);

/* comm of the thread without its newline, "" if it is gone. tid may equal pid. */
void process_stat_comm(pid_t pid, pid_t tid, char *ret, size_t size);

#endif
