// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   PID -> the process's start time, names and code size in /proc
 * units:   clock ticks since boot, as the kernel counts them
 * threads: the model's for what is guarded (base/guarded.h); else any
 * errors:  -ESRCH: the process is gone; another negative errno: not known whether it is gone
 * source:  proc_pid_stat(5), proc_pid_status(5), pidfd_open(2), clock_getcpuclockid(3)
 *
 * A process that does not come to the end of execve(2), because a file that execve closes is on a
 * file system that does not answer, holds its exec_update_lock. Linux 6.18 takes this lock for
 * whatever the right to trace is checked for: stat, wchan, exe, root, cwd, ns, fd, maps, map_files,
 * environ, auxv, io and syscall in /proc, process_vm_readv(2), and perf_event_open(2) of one
 * process. Whoever asks for these waits for the file system. The directory itself, task, status,
 * statm, comm, cgroup, uid_map, mountinfo and timens_offsets, kill(2) and a pidfd's poll answer.
 * What is called _read_ below may wait so, and is for threads that may wait. What reads stat for
 * the model's thread is a guarded call: -ETIMEDOUT says that stat does not answer. All else reads
 * what answers.
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
int process_stat_read_ticks(pid_t pid, uint64_t *ret);
/* The same, and an inode for process_stat_is_gone. */
int process_stat_begin(pid_t pid, uint64_t *ret_ticks, uint64_t *ret_inode);

/*
 * Whether the process is a copy of another one, which has begun no program of its own since
 * fork(2).
 */
bool process_stat_is_forked(pid_t pid);

/* The start time of the process whose directory in /proc is open; never that of a later process. */
int process_stat_start_ticks_at(int proc_fd, pid_t pid, uint64_t *ret);
int process_stat_read_ticks_at(int proc_fd, uint64_t *ret);

/* Whether there is no process with that PID, or only its zombie without living threads. */
bool process_stat_is_over(pid_t pid);

/*
 * Whether the process that began then is gone; start_ticks 0: whichever has the PID. A process that
 * cannot be looked at is not taken to be gone. *inode is 0 or what process_stat_begin says at
 * first, and is kept by the caller: the kernel gives no two processes the same inode in /proc, and
 * a process mostly keeps its own, so that stat is rarely read.
 */
bool process_stat_is_gone(pid_t pid, uint64_t start_ticks, uint64_t *inode);

/* When the process began, by the wall clock as it is set now; 0 if there is no such process. */
time_t process_stat_started_at(pid_t pid);
time_t process_stat_read_started_at(pid_t pid);

/* How long ago a process with that start time began, in clock ticks' precision. */
uint64_t process_stat_ticks_age_ns(uint64_t ticks);
/* How long ago the process began, in clock ticks' precision; UINT64_MAX if there is none. */
uint64_t process_stat_age_ns(pid_t pid);

/* The PID or thread ID that was given last where this process looks at /proc; 0: not known. */
pid_t process_stat_last_pid(void);

/* The PID of the process that the thread is one of; the PID itself for a PID; 0: gone. */
pid_t process_stat_pid_of(pid_t tid);

/* The thread ID (the PID if tid is pid) in the process's innermost PID namespace; 0: gone. */
pid_t process_stat_inner_pid(pid_t pid, pid_t tid);

/*
 * The bytes of the process's executable memory that is not writable, VmExe and VmLib of
 * /proc/<pid>/status: they change when a library comes or goes. 0: gone, or a thread of the kernel.
 */
uint64_t process_stat_code_bytes(pid_t pid);

/*
 * The processor time of all threads that the process has and has had; 0: there is no such process.
 * It is read of the process's clock, for which the kernel waits for nobody, and is another
 * process's if the PID is.
 */
uint64_t process_stat_cpu_ns(pid_t pid);

/* The thread's start time in ticks, and its comm, terminated; false if the thread is gone. */
bool process_stat_read_thread(pid_t pid, pid_t tid, uint64_t *ret_ticks, char *ret_comm,
			      size_t size);

/* What process_stat_inner_pid says, and the comm, terminated; false if the thread is gone. */
bool process_stat_thread_names(pid_t pid, pid_t tid, pid_t *ret_inner, char *ret_comm, size_t size);

/*
 * A number that changes when the process runs another program: of its comm and the size of the
 * program's code. path leads from dir_fd to its status file. 0: gone.
 */
uint64_t process_stat_program_at(int dir_fd, const char *path);

/* The thread's comm without its newline, "" if the thread is gone. tid may equal pid. */
void process_stat_comm(pid_t pid, pid_t tid, char *ret, size_t size);

#endif
