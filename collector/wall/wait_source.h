// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   wanted processes -> waits of their threads that have ended, chosen by their length
 * units:   CLOCK_MONOTONIC nanoseconds, bytes, PIDs of the initial PID namespace
 * threads: one at a time
 * errors:  negative errno, and a sentence that says why
 * source:  bpf(2), tracepoints sched_switch and sched_waking, deferred work of BPF programs (Linux
 *          6.18), libbpf; bpf/waits.bpf.c
 *
 * A thread that waits owes the time that it was blocked. When it owes a quantum or more, the wait
 * that has just ended is read, with the whole quanta owed as its weight: so a wait of a quantum or
 * more always is, a shorter one with a chance in proportion to its length, and the weights of a
 * thread differ from its blocked time by less than a quantum. The first debt is random.
 *
 * The stack is read by the thread itself before it goes on in user mode: nothing of it has changed,
 * and a page that was swapped out comes back. Several waits of one system call are one reading. The
 * stack of who has ended the wait is read in the waker, and is a reading of its own, before or
 * behind that of the wait; wakers of processes that are not wanted have none.
 *
 * The hook costs every switch of the system some 70 ns, and one of a wanted thread up to 90 ns;
 * with wakers every wake-up another 70 ns. A chosen wait costs its thread some microseconds.
 */
#ifndef FG_WALL_WAIT_SOURCE_H
#define FG_WALL_WAIT_SOURCE_H

#include "base/counters.h"
#include "sample/bpf_load.h"
#include "wall/wait_reading.h"

#define WAIT_SOURCE_DEFAULT_QUANTUM_NS UINT64_C(10000000)
#define WAIT_SOURCE_DEFAULT_RING_BYTES ((size_t)8 << 20)

struct wait_source_options {
	uint64_t quantum_ns;  /* 0: the default */
	uint32_t stack_bytes; /* limit of a copy of the stack; 0: no stacks */
	size_t ring_bytes;    /* a power of two; 0: the default */
	bool has_wakers;
};

struct wait_source_stats {
	uint64_t waits;	  /* of wanted threads, that have ended */
	uint64_t sampled; /* of these, chosen */
	uint64_t lost;	  /* chosen ones without room, or whose thread went on or ended first */
	uint64_t
		refused; /* chosen ones that the kernel would not read; later ones stand for them */
	uint64_t unread; /* readings whose stack could not be read */
	uint64_t unended;     /* waits whose end the kernel did not tell */
	uint64_t broken;      /* readings that could not be decoded */
	uint64_t wakers_lost; /* stacks of wakers without room in the ring buffer, or not read */
	uint64_t unlisted;    /* processes without room in the kernel's table, now */
};
extern const struct counters wait_source_counters;

/* Whose the wanted processes are. */
struct wait_owners {
	const uint64_t *groups; /* of each process; NULL: all are one group */
	size_t n_groups;	/* how many there are */
};

struct wait_source; /* opaque */

typedef void (*wait_source_fn)(void *arg, const struct wait_reading *wait);

/* 0, or a negative errno and in why what stands in the way of wait_source_open. Takes some ms. */
int wait_source_check(char why[BPF_LOAD_WHY_BYTES]);

/* Loads the programs, and hooks them. No process is wanted at first. */
int wait_source_open(const struct wait_source_options *options, struct wait_source **ret,
		     char why[BPF_LOAD_WHY_BYTES]);
void wait_source_close(struct wait_source *source); /* NULL is legal */

/*
 * From now on these processes and no others are wanted. Calls that repeat the PIDs cost no system
 * call. Returns how many have no room in the kernel's table: none of their waits are read. A wait
 * that goes on when its process comes to be wanted, or is no longer, may or may not be read. Of the
 * half of the ring buffer that is full last each group has a part; owners NULL: all are one group.
 */
size_t wait_source_want(struct wait_source *source, const struct wait_owners *owners,
			const pid_t *pids, size_t n);

/* Calls fn for all readings so far, those of a thread in the order of their times. */
void wait_source_read(struct wait_source *source, wait_source_fn fn, void *arg);

void wait_source_stats(const struct wait_source *source, struct wait_source_stats *ret);

#endif
