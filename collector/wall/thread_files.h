// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   wanted processes, tick by tick -> readings of all their threads, without BPF
 * units:   bytes, PIDs and TIDs as the collector sees them
 * threads: one at a time
 * errors:  negative errno, and a sentence that says why
 * source:  proc_pid_schedstat, proc_pid_syscall(5), process_vm_readv(2)
 *
 * Reads what thread_source.h reads, from files of /proc. A thread that has run since the last tick
 * costs some 15 us, one that has not 3 us.
 *
 * What the files do not say: of the registers only the stack pointer and the program counter are
 * known, so that a walk which needs others ends early; there is no kernel stack; and where a thread
 * waits for a CPU looks as if it ran there. Needs the right to trace the process
 * (CAP_SYS_PTRACE).
 *
 * Reading the memory of a process can wait as long as the process likes; see thread_clock.h.
 */
#ifndef FG_WALL_THREAD_FILES_H
#define FG_WALL_THREAD_FILES_H

#include "wall/thread_source.h"

struct thread_files; /* opaque */

/* ring_bytes of the options has no meaning. -ENOSYS, and why: the kernel has no such files. */
int thread_files_open(const struct thread_source_options *options, struct thread_files **ret,
		      char why[BPF_LOAD_WHY_BYTES]);
void thread_files_close(struct thread_files *files); /* NULL is legal */

/* These are as those of thread_source.h. */
size_t thread_files_want(struct thread_files *files, const pid_t *pids, size_t n);
int thread_files_tick(struct thread_files *files, thread_source_fn fn, void *arg,
		      uint64_t *ret_lost);
void thread_files_forget(struct thread_files *files, pid_t tid);
bool thread_files_set_stackless(struct thread_files *files, pid_t pid, bool is_stackless);
uint64_t thread_files_progress(const struct thread_files *files, pid_t *ret_pid);

#endif
