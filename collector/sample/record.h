// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a source of samples tells -> a record, the same for all sources
 * units:   CLOCK_MONOTONIC nanoseconds, PIDs and TIDs as the collector sees them
 * threads: a value; its pointers are borrowed
 * errors:  none
 * source:  perf_event_open(2), bpf(2)
 *
 * A source fills records (sampler.h), and no later stage knows which source it was. What a source
 * cannot know is 0 or NULL.
 */
#ifndef FG_SAMPLE_RECORD_H
#define FG_SAMPLE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum record_kind {
	RECORD_SAMPLE,
	RECORD_MMAP,	  /* an executable mapping came into being */
	RECORD_EXEC,	  /* a process has begun another program */
	RECORD_FORK,	  /* a thread or process began */
	RECORD_EXIT,	  /* a thread ended */
	RECORD_KSYMBOL,	  /* code of the kernel came or went: a BPF program, a trampoline */
	RECORD_LOST,	  /* the kernel had no room in a ring buffer of samples */
	RECORD_LOST_SIDE, /* the kernel had no room in a side ring; set by the sampler */
	RECORD_THROTTLED, /* the kernel held the event back for a while */
};

/* A stack as addresses, leaf first. Each address but the first is a return address. */
struct sample_chain {
	const uint64_t *addrs;
	uint32_t len;
};

enum sample_of {
	SAMPLE_OF_CPU,	   /* an event has occurred in the thread */
	SAMPLE_OF_WALL,	   /* time has passed for the thread, whatever it did */
	SAMPLE_OF_WAKER,   /* no sample, but the stack of who has ended the wait of the next one */
	SAMPLE_OF_ALLOC,   /* the JVM has sampled an allocation */
	SAMPLE_OF_ENTER,   /* the thread begins to wait for a lock */
	SAMPLE_OF_ENTERED, /* no sample, but the end of such a wait; there is no stack */
	SAMPLE_OF_PARK,	   /* the thread has parked until now, maybe to wait for a lock */
	SAMPLE_OF_EXCEPTION, /* an exception is being made */
	SAMPLE_OF_DEAD, /* no sample: objects of allocations that have died; there is no stack */
};

/* What a thread did, according to the scheduler. */
enum thread_state {
	THREAD_RUNNING,	 /* on a CPU */
	THREAD_RUNNABLE, /* waits for a CPU */
	THREAD_BLOCKED,	 /* waits for something else */
};

/* Who has ended a wait. */
enum waker_kind {
	WAKER_UNKNOWN,
	WAKER_THREAD,
	WAKER_SOFTIRQ, /* a soft interrupt, in that thread's time: maybe on its account */
	WAKER_IRQ,     /* an interrupt, as of a timer; the thread has nothing to do with it */
};

struct sample_waker {
	uint8_t kind; /* enum waker_kind */
	pid_t pid, tid;
	char comm[17]; /* as the kernel calls the thread; terminated */
};

#define SAMPLE_OBJECTS 5

/* What a probe has told, in registers of the process; nothing of it has been checked. */
struct sample_probe {
	uint64_t text;	 /* address of a class's signature, terminated, in the snapshot; 0: none */
	uint64_t amount; /* of an allocation: bytes; of the end of a wait, of a park: nanoseconds */
	/*
	 * Of an allocation: the mean of bytes between two samples. Of a park: nanoseconds; of
	 * shorter ones each was sampled with the probability amount / interval.
	 */
	uint64_t interval;
	uint64_t wait; /* of a wait: its number, by which begin and end belong together */
	/*
	 * Numbers of objects; 0: none. Of an allocation the first one, if its death will be told;
	 * of SAMPLE_OF_DEAD those that have died.
	 */
	uint64_t objects[SAMPLE_OBJECTS];
	uint64_t round; /* of both: which numbers are watched, see probes/live_samples.h */
};

#define SAMPLE_COMM_BYTES 16 /* the kernel's name of a thread, terminated */

struct sample {
	uint8_t kind;  /* enum sample_of */
	uint8_t state; /* enum thread_state, of samples of wall-clock time */
	/* The number of the system call that the thread is in, plus one; see sample_syscall. */
	uint32_t syscall_plus_one;
	/* The first address is that of the instruction itself; if false, maybe the one behind. */
	bool is_exact;
	/* What the kernel called the thread then, terminated; "": the source does not tell. */
	char comm[SAMPLE_COMM_BYTES];
	/*
	 * What the event has counted since the last sample; of wall-clock time: the nanoseconds
	 * before the record's time to which weight belongs. The record of a thread that has run has
	 * the time at which this began, and these nanoseconds come behind it.
	 */
	uint64_t period;
	/*
	 * Samples that this one stands for, itself among them; of wall-clock time: microseconds.
	 * Never 0.
	 */
	uint64_t weight;
	struct sample_chain kernel; /* empty: the thread was in user code */
	struct sample_chain user;   /* the kernel's walk along frame pointers */
	/*
	 * The user registers, SAMPLE_REGS_COUNT values, see sample_regs.h. NULL for a thread of the
	 * kernel, for a 32-bit process, and without snapshots.
	 */
	const uint64_t *regs;
	/*
	 * The snapshot: the user stack from the stack pointer upwards, of any length. NULL and 0
	 * if there is none, as always without regs.
	 */
	const uint8_t *stack;
	uint32_t stack_len;
	/*
	 * Bit i: the page of the stack that is i pages above that of the stack pointer could not be
	 * read. As a source tells it, the snapshot has garbage there. recording_settle_pages finds
	 * out which of the pages are zeros; the rest is not known.
	 */
	uint64_t unread_pages;
	bool ends_at_page; /* the snapshot ends in front of a page that had been swapped out */
	/* Of a wait that has ended, if wakers are asked for; of a waker's stack: who has waited. */
	struct sample_waker waker;
	/* The number that the stack of a waker and its wait have in common; 0: there is none. */
	uint32_t waker_stack;
	struct sample_probe probe; /* of a sample of a probe */
};

/* The number of the system call that the thread is in; -1: in none, or not known. */
static inline int32_t sample_syscall(const struct sample *sample)
{
	return (int32_t)sample->syscall_plus_one - 1;
}

struct record_mmap {
	uint64_t addr, len, file_off;
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	const char *path; /* terminated */
};

struct record_ksymbol {
	uint64_t addr;
	uint32_t len;
	bool is_bpf, is_gone;
	const char *name; /* terminated */
};

struct record {
	enum record_kind kind;
	uint64_t time_ns;
	pid_t pid, tid;
	uint32_t cpu;
	union {
		struct sample sample;
		struct record_mmap mmap;
		struct record_ksymbol ksymbol;
		struct {
			pid_t parent_pid;
		} fork;
		uint64_t lost; /* the number of lost records */
	};
};

#endif
