// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   wanted processes, tick by tick -> readings of all their threads
 * units:   bytes, PIDs of the initial PID namespace
 * threads: one at a time
 * errors:  negative errno, and a sentence that says why
 * source:  bpf(2), task iterators of Linux 5.18, libbpf; bpf/threads.bpf.c
 *
 * A tick visits every thread of the system, by a BPF program that runs in the read(2) of a process
 * of its own (guard/reader.h; without readers of the caller's thread), and reads those of wanted
 * processes: counters of the scheduler, and the stack of a thread that does not run and has run
 * since its last stack was taken. So a thread that waits costs next to nothing after its first
 * stack. No other program of the system pays: there is no hook in the kernel.
 *
 * A tick takes as long as the threads need: about 0.05 ms, less than 1 us for a thread that still
 * waits, and up to 10 us for a stack. It may sleep, where pages of a stack come from swap, or where
 * a process holds the lock of its mappings. Stacks are read from anonymous memory only. A process
 * that maps a file over its stack in the moment of the copy can have the tick wait as long as the
 * process likes; so ticks belong on a thread that others do not wait for (thread_clock.h). Such a
 * tick ends when reach_stop is called, and its thread with any signal.
 */
#ifndef FG_WALL_THREAD_SOURCE_H
#define FG_WALL_THREAD_SOURCE_H

#include "sample/bpf_load.h"
#include "wall/thread_reading.h"

#define THREAD_SOURCE_DEFAULT_RING_BYTES ((size_t)4 << 20)

struct thread_source_options {
	uint32_t stack_bytes; /* limit of a copy of the stack; 0: no stacks */
	size_t ring_bytes;    /* a power of two; 0: the default */
};

struct thread_source_stats {
	uint64_t visited;     /* threads of the whole system */
	uint64_t lost;	      /* readings without room in the ring buffer */
	uint64_t lost_stacks; /* stacks without room; they are taken in the next tick */
	uint64_t broken;      /* readings that could not be decoded */
	uint64_t unlisted;    /* processes without room in the kernel's table, in each tick anew */
};

struct thread_source; /* opaque */

typedef void (*thread_source_fn)(void *arg, const struct thread_reading *reading);

/* Loads the program. No process is wanted at first. why gets the reason of an error. */
int thread_source_open(const struct thread_source_options *options, struct thread_source **ret,
		       char why[BPF_LOAD_WHY_BYTES]);
void thread_source_close(struct thread_source *source); /* NULL is legal */

/*
 * From now on these processes and no others are wanted. Calls that repeat the PIDs cost no system
 * call. Returns how many have no room in the kernel's table: none of their threads are read.
 */
size_t thread_source_want(struct thread_source *source, const pid_t *pids, size_t n);

/*
 * Calls fn for each thread of wanted processes, in the order of their TIDs. *ret_lost: so many of
 * these had no room, or could not be decoded; a process without room in the table counts as one,
 * because nobody knows its threads. After an error more are missing.
 */
int thread_source_tick(struct thread_source *source, thread_source_fn fn, void *arg,
		       uint64_t *ret_lost);

/*
 * Whether stacks of the process are not read from now on. False: there are too many such processes,
 * or the kernel has no memory.
 */
bool thread_source_set_stackless(struct thread_source *source, pid_t pid, bool is_stackless);

/*
 * How far a tick is, for other threads: the number changes with each thread of the system.
 * *ret_pid: the process whose stack is being read, or 0.
 */
uint64_t thread_source_progress(const struct thread_source *source, pid_t *ret_pid);

/*
 * For other threads too: the process that makes the tick; 0: there is no tick, or the caller's
 * thread makes it.
 */
pid_t thread_source_runner(const struct thread_source *source);

/* The next reading of the thread has its stack, if it does not run then. */
void thread_source_forget(struct thread_source *source, pid_t tid);

void thread_source_stats(const struct thread_source *source, struct thread_source_stats *ret);

#endif
