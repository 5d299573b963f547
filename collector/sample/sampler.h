// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   perf events of the kernel -> records
 * units:   hertz, PIDs, bytes
 * threads: one at a time
 * errors:  negative errno, said on stderr with the remedy
 * source:  perf_event_open(2), Documentation/admin-guide/perf-security.rst
 *
 * One event and one ring a CPU. System-wide by default: its cost does not grow with the number of
 * processes; who is of interest is decided behind. For one process of an ordinary user, who may not
 * look at the whole system, one event a thread and CPU into the same rings.
 *
 * With a snapshot of the user's stack each sample takes a fixed part of its ring, however much of
 * the snapshot is real. A ring has room for what a busy CPU fills in 1.6 s, for
 * SAMPLER_RING_SAMPLES at least: readers come before a ring can be a quarter full, but on a host
 * that has many processes waiting for each CPU, a reader waits for its turn, too. All rings together have 64 MiB at most, on up to 1024 CPUs. What
 * gives way to that is time first: on more than 8 CPUs at 99 Hz, or at a higher rate, it is less.
 * Where there are so many CPUs that there is no room for SAMPLER_RING_SAMPLES, snapshots are
 * shorter than asked for, not fewer: 24 KiB on 64 CPUs and 11 KiB on 128, of 48 KiB. Where the
 * memory that may be locked is too little, rings are smaller, and must have room for two records.
 *
 * Nobody but the sampled threads pays for a recording: no event of it interrupts or wakes anybody.
 * Readers come by the clock, each sampler_read_ns at the latest; a ring of samples that is a quarter
 * full makes its descriptor readable, should a reader not have come.
 *
 * What happens to processes comes through a ring of its own for each CPU: that a program begins, by
 * the tracepoint of exec, and that code of the kernel comes or goes. Who follows all processes also
 * hears of their mappings, forks and ends; for that the kernel charges each of those a few tenths of
 * a microsecond, all over the host. Names that threads take are never asked for, because each
 * prctl(PR_SET_NAME) of the host would pay; only where the tracepoint cannot be had and all are
 * followed there is no other way to hear of exec. These rings have 16 MiB together at most.
 */
#ifndef FG_SAMPLE_SAMPLER_H
#define FG_SAMPLE_SAMPLER_H

#include "sample/perf_record.h"

#include <linux/perf_event.h>

#define SAMPLER_DEFAULT_HZ   99
#define SAMPLER_RING_SAMPLES 40 /* 400 ms of the default rate */

/* Snapshots. The maximum is what a record, whose size is a u16, has room for beside its rest. */
/* HotSpot from JDK 21 on has frames of 10 KiB, three at once where it resolves a call. */
#define SAMPLER_DEFAULT_STACK_BYTES (48u << 10)
#define SAMPLER_LEAST_STACK_BYTES   (1u << 10)
#define SAMPLER_MAX_STACK_BYTES	    64000u

/* Order and meaning of a sample's fields; perf_parse.c reads them. */
#define SAMPLER_TYPE                                                                               \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |                   \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)
#define SAMPLER_TYPE_STACK (SAMPLER_TYPE | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
/* The same of a sample that says that a program has begun. */
#define SAMPLER_TYPE_EXEC (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

struct sampler_options {
	const char *event; /* "cycles", "cpu-clock", "task-clock"...; NULL: the best there is */
	unsigned hz;
	/* If the whole system may not be looked at: only this process. 0: then it is an error. */
	pid_t fallback_pid;
	/*
	 * Of the user's stack, with the user's registers: a multiple of 8 between the limits above.
	 * 0: no registers and no snapshot.
	 */
	uint32_t stack_bytes;
	/* Mappings, forks and ends of all processes are wanted; of one process alone they never are. */
	bool follows_all;
};

struct sampler_stats {
	uint64_t records;
	uint64_t lost;	    /* the kernel's count of samples without room */
	uint64_t lost_side; /* the same of what happens to processes */
	uint64_t throttled;
	uint64_t broken;      /* records that were not as they should be */
	size_t ring_bytes;    /* of all rings */
	bool is_ring_smaller; /* than it should be: the memory that may be locked is too little */
};

typedef void (*sampler_fn)(void *arg, const struct perf_record *record);

struct sampler; /* opaque */

/* Whether event is a name that sampler_open knows; the names for messages. */
bool sampler_is_event(const char *event);
const char *sampler_events(void);

/*
 * The size of each of n_cpus rings, and the longest snapshot of at most stack_bytes that such rings
 * have room for SAMPLER_RING_SAMPLES times, or the least.
 */
size_t sampler_ring_bytes(size_t n_cpus, uint32_t stack_bytes, unsigned hz);
/* The time in which a busy CPU fills a quarter of such a ring. */
uint64_t sampler_quarter_ns(size_t ring_bytes, uint32_t stack_bytes, unsigned hz);
/* The size of each of n_cpus rings for what happens to processes. */
size_t sampler_side_bytes(size_t n_cpus);
uint32_t sampler_fit_stack(size_t ring_bytes, uint32_t stack_bytes);
/* The size of the smallest ring that has room for two records. */
size_t sampler_least_ring_bytes(uint32_t stack_bytes);

/* Starts sampling. */
int sampler_open(const struct sampler_options *options, struct sampler **ret);
/* What this thread's last sampler_open that failed has logged, for who does not see the log. */
const char *sampler_problem(void);
void sampler_close(struct sampler *sampler); /* NULL is legal */

/* Stops sampling; what the rings hold can still be read. */
void sampler_stop(struct sampler *sampler);

/* What is sampled, for titles: "cycles" or "cpu-clock". */
const char *sampler_event(const struct sampler *sampler);
/* The length of snapshots: what was asked for, or less if there are many CPUs. */
uint32_t sampler_stack_bytes(const struct sampler *sampler);

/* How long rings may be left unread, with three times as much to spare. */
uint64_t sampler_read_ns(const struct sampler *sampler);

/* Calls fn for each record that waits in the rings, ring by ring, samples last. */
void sampler_read(struct sampler *sampler, sampler_fn fn, void *arg);

/* Whether anything waits in the rings of what happens to processes; a look at memory, no more. */
bool sampler_has_side(const struct sampler *sampler);

/*
 * Descriptors to poll(2): readable when a quarter of a ring of samples has been filled since they
 * were last polled. Returns how many there are.
 */
size_t sampler_fds(const struct sampler *sampler, const int **ret_fds);

/* Whether it is heard of programs that begin, and of mappings, forks and ends. */
bool sampler_hears_exec(const struct sampler *sampler);
bool sampler_follows_all(const struct sampler *sampler);

void sampler_stats(const struct sampler *sampler, struct sampler_stats *ret);

#endif
