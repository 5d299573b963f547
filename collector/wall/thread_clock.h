// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   wanted processes -> samples of wall-clock time of all their threads, tick by tick
 * units:   CLOCK_MONOTONIC nanoseconds, hertz, bytes
 * threads: one owner; threads are read by a thread of the clock's own
 * errors:  negative errno; what is lost is counted
 * source:  thread_source.h, thread_files.h, thread_times.h
 *
 * The clock's thread reads all threads of the wanted processes some 20 times a second, at times
 * with jitter, so that no program falls into step with it. The samples wait in a queue until the
 * owner takes them. Threads are read by BPF where that may be, else by files of /proc. Waits that
 * are short are told by BPF alone, after each reading; without them time is shared as if none were.
 *
 * A process can make the read of its memory wait for ever. A tick that stands still for
 * THREAD_CLOCK_LATE_NS is left to itself with its thread, the process is read without stacks from
 * then on, and another thread goes on. thread_blame.h says when all of its container or user are
 * read so: sooner when THREAD_CLOCK_MANY_LATE such threads have not returned. When
 * THREAD_CLOCK_MOST_LATE have not, no stacks are read any more, until one returns.
 *
 * Life cycle: start, then want, read and so on; stop, then read until is_ended; close.
 */
#ifndef FG_WALL_THREAD_CLOCK_H
#define FG_WALL_THREAD_CLOCK_H

#include "base/counters.h"
#include "sample/sampler.h"
#include "wall/thread_times.h"
#include "wall/wait_source.h"

#define THREAD_CLOCK_DEFAULT_HZ	 20u
#define THREAD_CLOCK_MOST_HZ	 1000u
#define THREAD_CLOCK_LATE_NS	 UINT64_C(2000000000)
#define THREAD_CLOCK_MANY_LATE	 16u
#define THREAD_CLOCK_MOST_LATE	 32u
#define THREAD_CLOCK_QUEUE_BYTES ((size_t)32 << 20)
#define THREAD_CLOCK_WHY_BYTES	 280

/* Of waits that are shorter than the time between two readings, see waits/wait_source.h. */
struct thread_clock_waits {
	bool is_asked;
	bool has_wakers;
	uint64_t quantum_ns; /* 0: the default */
};

struct thread_clock_options {
	unsigned hz;		    /* 0: the default */
	uint32_t stack_bytes;	    /* limit of a copy of a stack; 0: no stacks */
	uint64_t start_ns;	    /* no time before counts */
	uint64_t end_ns;	    /* no time after it; thread_clock_stop makes it earlier */
	enum sampler_source source; /* SAMPLER_PERF: never by BPF; others: by BPF if that may be */
	size_t stack_pool_bytes;    /* of stacks that are kept; 0: that of thread_times.h */
	size_t queue_bytes;	    /* 0: the default */
	struct thread_clock_waits waits;
};

struct thread_clock_stats {
	struct thread_times_stats times;
	struct wait_source_stats waits;
	uint64_t ticks;
	uint64_t late_ticks;	 /* that stood still, in all */
	size_t late;		 /* threads of these that have not returned */
	uint64_t failed_ticks;	 /* ended with an error, did not begin, or had too many processes */
	uint64_t dropped;	 /* samples for which the queue had no room */
	uint64_t dropped_us;	 /* their time */
	uint64_t stackless_pids; /* processes that are read without stacks */
	size_t bytes;		 /* of threads, stacks and queue */
};
extern const struct counters thread_clock_counters;

struct thread_clock; /* opaque */

/* -ENOMEM or -EAGAIN: no thread. */
int thread_clock_start(const struct thread_clock_options *options, struct thread_clock **ret);
void thread_clock_close(struct thread_clock *clock); /* NULL is legal */

/*
 * From now on these processes and no others are wanted. Without memory nothing changes. Those of a
 * group share one part of all limits; groups NULL: all are one group.
 */
void thread_clock_want(struct thread_clock *clock, const pid_t *pids, const uint64_t *groups,
		       size_t n);
/* A thread of a wanted process has begun or ended, as the kernel has reported. */
void thread_clock_begin_thread(struct thread_clock *clock, pid_t pid, pid_t tid, uint64_t time_ns);
void thread_clock_end_thread(struct thread_clock *clock, pid_t tid, uint64_t time_ns);

/*
 * Calls fn for samples that wait, at most most of them, in the order in which they were made. Also
 * looks for ticks that stand still: so it has to be called now and then. Returns whether more wait.
 */
bool thread_clock_read(struct thread_clock *clock, size_t most, sampler_fn fn, void *arg);

/* Threads are read once more, and all time up to end_ns becomes samples. */
void thread_clock_stop(struct thread_clock *clock, uint64_t end_ns);
/* Whether all samples up to the end have been read. */
bool thread_clock_is_ended(struct thread_clock *clock);

/*
 * Who reads the threads, and if that is /proc though BPF was allowed, why: "BPF", "/proc (...)"; ""
 * while it is not known. Behind it, how much of the threads' time had no room: "BPF, 2.5 s of their
 * time lost".
 */
void thread_clock_source_text(struct thread_clock *clock, char ret[THREAD_CLOCK_WHY_BYTES]);
/* "BPF" if waits are told as was asked for, else why they are not; "" while it is not known. */
void thread_clock_waits_text(struct thread_clock *clock, char ret[THREAD_CLOCK_WHY_BYTES]);
void thread_clock_stats(struct thread_clock *clock, struct thread_clock_stats *ret);

#endif
