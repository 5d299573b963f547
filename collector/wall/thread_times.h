// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   readings of threads -> samples of wall-clock time, as records
 * units:   CLOCK_MONOTONIC nanoseconds; weights are microseconds
 * threads: one at a time; no system calls
 * errors:  what has no room is counted
 * source:  thread_source.h; Documentation/scheduler/sched-stats.rst
 *
 * The time between two readings of a thread is what it ran, plus what it waited for a CPU, plus
 * what it was blocked. The scheduler counts the first two. Its counters lag: time on a CPU by a
 * tick, a wait for a CPU by the wait. What they say too late is taken from later time, so that the
 * parts of a thread's time always sum up to that time. A thread that did not wait for anything
 * else between two readings was not blocked, whatever the counters say so far.
 *
 * Samples: time in a state has the stack with which the thread is read in that state next: so
 * stacks have the time for which they are seen, and nobody's time in one state goes to a stack of
 * another one. Where no reading says so within longest_ns, it is the stack that was there last. A
 * running thread has none: where it ran is known from samples of the CPU. Samples come when a
 * thread has a new stack that is not equal to the last one, every longest_ns, and at the end. So an
 * idle thread has one a second; the first comes earlier, at another time for each thread.
 * What a thread has run comes with each reading, under the time of the reading before it.
 * Each sample has the name that the thread was read with, and a reading with another name ends the
 * samples of the older one.
 *
 * Blocked time is shared among the waits that were told of the thread and have ended in it, by
 * their weights, see wait_claims.h. So short waits between two readings have their part, though
 * none of them was met.
 *
 * A thread that was there at the start has its time from the start on if its first reading is in
 * the first tick or the first second; until that reading it did what it did then.
 *
 * Bounds: stacks have a limit in bytes. Past it, those that have changed least recently are
 * dropped, and the source is asked for them anew: not before half of longest_ns has passed since
 * they were taken. Else, of more stacks than there is room for, each would be read in each tick,
 * and each would be a sample. Waits have the same limit; past it they are left out. Threads have a
 * limit in number.
 */
#ifndef FG_WALL_THREAD_TIMES_H
#define FG_WALL_THREAD_TIMES_H

#include "base/counters.h"
#include "wall/thread_reading.h"
#include "wall/wait_source.h"

#define THREAD_TIMES_LONGEST_NS	 UINT64_C(1000000000)
#define THREAD_TIMES_STACK_BYTES ((size_t)16 << 20)
#define THREAD_TIMES_THREADS	 65536u

struct thread_times_options {
	uint64_t start_ns;   /* no thread's time begins before */
	uint64_t longest_ns; /* between two samples of a thread; 0: the default */
	size_t stack_bytes;  /* of all stacks; 0: the default */
	size_t n_threads;    /* 0: the default */
	uint64_t quantum_ns; /* of waits; 0: that of wait_source.h */
	/* Gets each sample; the record and what it points to are valid during the call. */
	void (*emit)(void *arg, const struct record *record);
	/* Who pays for a process: past a limit the greediest goes first. NULL: all are one. */
	uint64_t (*group)(void *arg, pid_t pid);
	/* The thread's stack is not kept any more: the next reading should have it. */
	void (*forget)(void *arg, pid_t tid);
	void *arg;
};

struct thread_times_stats {
	uint64_t threads;	     /* known now */
	uint64_t readings;	     /* of them all */
	uint64_t stacks_taken;	     /* that came with readings and are kept */
	uint64_t stacks_reused;	     /* readings of a thread that waits where it waited */
	uint64_t stacks_equal;	     /* that came, and were what was kept */
	uint64_t changed_while_read; /* stacks that were no use */
	uint64_t lost;		     /* readings that the source had no room for */
	uint64_t dropped_stacks;     /* past the limit, or without memory */
	uint64_t threads_left_out;   /* readings of threads past the limit, or without memory */
	uint64_t threads_unread;     /* that began and ended without a reading */
	uint64_t waits_left_out;     /* of unknown threads, past the limit, or without memory */
	uint64_t wakers_left_out; /* stacks of wakers, of waits that were not there or were gone */
	uint64_t time_us[3];	  /* of all samples, by enum thread_state */
	size_t stack_bytes;	  /* kept now */
	size_t wait_bytes;	  /* of waits that are kept now */
};
extern const struct counters thread_times_counters;

struct thread_times; /* opaque */

struct thread_times *thread_times_new(const struct thread_times_options *options); /* or NULL */
void thread_times_free(struct thread_times *times); /* NULL is legal; emits nothing */

/*
 * The next reading. A thread that began in the last second before its first reading has all of its
 * time, and one that was there at the start has it from the start on, if it is read by the first
 * tick or in the first second; the time of others begins with the first reading.
 */
void thread_times_read(struct thread_times *times, const struct thread_reading *reading);

/*
 * A wait of the thread has ended. Waits of a thread are told in order of time, after the reading
 * behind which they ended, and before the next tick.
 */
void thread_times_wait(struct thread_times *times, const struct wait_reading *wait);

/*
 * All threads have been read by now_ns, but for so many readings that were lost. If none was,
 * threads without a reading for a second have ended: who ends is told sooner by thread_times_end.
 */
void thread_times_end_tick(struct thread_times *times, uint64_t lost, uint64_t now_ns);

/*
 * A thread has begun, or ended, as the kernel has reported. What it did before its first reading,
 * or between its last one and its end, is not known: that time is of the state that it was read in
 * last, and of a thread that was never read it is all running.
 */
void thread_times_begin(struct thread_times *times, pid_t pid, pid_t tid, uint64_t time_ns);
void thread_times_end(struct thread_times *times, pid_t tid, uint64_t time_ns);

/* Emits the time up to the last readings. */
void thread_times_flush(struct thread_times *times);

void thread_times_stats(const struct thread_times *times, struct thread_times_stats *ret);
/* Memory of threads and their stacks. */
size_t thread_times_bytes(const struct thread_times *times);

#endif
