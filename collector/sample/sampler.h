// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   perf events of the kernel -> records
 * units:   hertz, PIDs, bytes
 * threads: one at a time; with tasks, theirs ends the events
 * errors:  negative errno, logged with the remedy
 * source:  perf_event_open(2), Documentation/admin-guide/perf-security.rst
 *
 * Events: there is one event and one ring buffer a CPU. Sampling is system-wide by default, so that
 * its cost does not grow with the number of processes; later stages choose the processes of
 * interest. An ordinary user, who may not sample the whole system, samples one process: by one
 * event a thread and CPU, which write into the ring buffers of the CPUs.
 *
 * Ring buffers of samples: a sample with a snapshot takes a fixed part of its ring buffer, even if
 * the stack is shorter than the snapshot. A ring buffer has room for the samples of a busy CPU in
 * 1.6 s, and at least for SAMPLER_RING_SAMPLES. The reader comes before a ring buffer is a quarter
 * full, but on a host where many processes wait for each CPU the reader has to wait too. All ring
 * buffers together have at most 64 MiB, on up to 1024 CPUs: on more than 8 CPUs at 99 Hz, or at a
 * higher rate, they have room for less than 1.6 s. On so many CPUs that there is no room for
 * SAMPLER_RING_SAMPLES, snapshots are shorter than asked for: 24 KiB on 64 CPUs and 11 KiB on
 * 128, instead of 48 KiB. If too little memory may be locked, ring buffers are smaller, and must
 * have room for two records.
 *
 * BPF: where the kernel and the rights allow it, a program takes the samples (bpf_source.h). It
 * copies no more of a stack than there is, and samples of wanted processes alone, into one ring
 * buffer of all CPUs, of 64 MiB at most. So snapshots have their full length on any number of CPUs,
 * and pages that were never written do not end them. Side rings stay perf's.
 *
 * Probes: a second program takes the samples of uprobes, which the sampler's owner opens. It has a
 * ring buffer of its own. There is no such source without BPF.
 *
 * Cost: only sampled threads pay for a recording. The reader comes by the clock, after
 * sampler_read_ns at the latest, and no sample wakes it. If the reader is late, the descriptor of a
 * ring buffer of samples that is a quarter full becomes readable. A program that begins pays for
 * waking whoever polls sampler_side_fd.
 *
 * Side rings: each CPU has a second ring buffer for records of processes, of at most 16 MiB
 * together. They tell of programs that begin (by the tracepoint of exec) and of code of the kernel
 * that comes or goes; with follows_all also of mappings, forks and ends of all processes, and with
 * follows_threads of forks and ends alone. The record of a mapping, fork or end costs the process,
 * on all of the host, a few tenths of a microsecond. New names of threads are not asked for,
 * because each prctl(PR_SET_NAME) of the host would pay, except with follows_all where the
 * tracepoint is missing: there is no other way to hear of exec then.
 */
#ifndef FG_SAMPLE_SAMPLER_H
#define FG_SAMPLE_SAMPLER_H

#include "guard/worker.h"
#include "sample/record.h"

#define SAMPLER_PROBLEM_BYTES	 512 /* the longest message */
#define SAMPLER_DEFAULT_HZ	 99
#define SAMPLER_RING_SAMPLES	 40	   /* 400 ms of the default rate */
#define SAMPLER_SOURCE_BYTES	 280	   /* the longest text of sampler_source_text */
#define SAMPLER_MOST_SAMPLES_HZ	 10000000u /* that can be asked for */
#define SAMPLER_MAX_SAMPLES_HZ	 5000u	   /* the walks of these take a fifth of a CPU */
#define SAMPLER_PROCESS_PROBE_HZ 2000u	   /* samples of one kind of probe in one process */
#define SAMPLER_PROBE_READ_NS	 UINT64_C(100000000)

/* Lengths of snapshots. The maximum is the room in a record, whose size is a u16. */
/* HotSpot from JDK 21 on has frames of 10 KiB, three at once where it resolves a call. */
#define SAMPLER_DEFAULT_STACK_BYTES (48u << 10)
#define SAMPLER_LEAST_STACK_BYTES   (1u << 10)
#define SAMPLER_MAX_STACK_BYTES	    64000u

/* Who copies a sample's stack: a program of BPF (bpf_source.h), or perf into its ring buffers. */
enum sampler_source {
	SAMPLER_AUTO, /* BPF where it may be used, else perf */
	SAMPLER_PERF,
	SAMPLER_BPF, /* any of the following, which are for kernels of different ages */
	SAMPLER_BPF_EXACT,
	SAMPLER_BPF_SLICES,
	SAMPLER_BPF_SCRATCH,
};

struct sampler_options {
	enum sampler_source source;
	const char *event; /* "cycles", "cpu-clock"...; NULL: cycles, or else cpu-clock */
	unsigned hz;
	/*
	 * The process to sample if the whole system may not be sampled. 0: this is an error then.
	 */
	pid_t fallback_pid;
	/*
	 * The length of snapshots, a multiple of 8 between the limits above. 0: no snapshots and no
	 * user registers.
	 */
	uint32_t stack_bytes;
	/*
	 * BPF: at most so many samples a second are taken, of all CPUs; a taken sample stands for
	 * those that were not. 0: SAMPLER_MAX_SAMPLES_HZ.
	 */
	unsigned max_samples_hz;
	size_t ring_bytes; /* BPF: of the ring buffer, a power of two; 0: by CPUs and hz */
	/* Asks for mappings, forks and ends of all processes; ignored if one process is sampled. */
	bool follows_all;
	bool follows_threads; /* asks for forks and ends of all threads */
	bool has_probes;      /* samples of uprobes are asked for; an error if they cannot be had */
	bool wants_watched;   /* of allocations only those whose deaths will be told */
	/* Borrowed, run sampler_stop and sampler_close. NULL: these wait for the kernel. */
	struct worker *worker;
};

struct sampler_stats {
	uint64_t records;
	uint64_t lost;	    /* the kernel's count of samples without room */
	uint64_t lost_side; /* the kernel's count of records without room in side rings */
	uint64_t throttled;
	uint64_t broken; /* records that could not be decoded */
	uint64_t merged; /* samples for which another one stands, see max_samples_hz */
	uint64_t unread; /* samples of which a page of the stack was not in memory */
	/* These are of probes alone; the counts above have them too: */
	uint64_t probe_lost, probe_merged;
	uint64_t unwatched;   /* allocations that were not wanted because of wants_watched */
	uint64_t deaths_lost; /* records of deaths of objects, which are no samples */
	/* Wanted processes without room in BPF's table, when it was most: all samples came then. */
	uint64_t unlisted;
	size_t ring_bytes;    /* of all ring buffers */
	bool is_ring_smaller; /* ring buffers are smaller: too little memory may be locked */
};

typedef void (*sampler_fn)(void *arg, const struct record *record);

struct sampler; /* opaque */

/* Whether event is a name that sampler_open knows. */
bool sampler_is_event(const char *event);
/* The names of all events, for messages. */
const char *sampler_events(void);

/* The size of each of n_cpus ring buffers of samples. */
size_t sampler_ring_bytes(size_t n_cpus, uint32_t stack_bytes, unsigned hz);
/* The time in which a busy CPU fills a quarter of a ring buffer of samples. */
uint64_t sampler_quarter_ns(size_t ring_bytes, uint32_t stack_bytes, unsigned hz);
/* The size of each of n_cpus side rings. */
size_t sampler_side_bytes(size_t n_cpus);
/*
 * The longest snapshot, of at most stack_bytes, for which a ring buffer has room
 * SAMPLER_RING_SAMPLES times; never less than SAMPLER_LEAST_STACK_BYTES, unless less is asked for.
 */
uint32_t sampler_fit_stack(size_t ring_bytes, uint32_t stack_bytes);
/* The size of the smallest ring buffer that has room for two records. */
size_t sampler_least_ring_bytes(uint32_t stack_bytes);

/*
 * Starts sampling. Takes milliseconds, because the kernel makes and clears the ring buffers, and
 * some ten more where no other program uses the tracepoint of exec. Tasks that close samplers
 * should have ended, because the kernel counts their locked memory and descriptors until then.
 */
int sampler_open(const struct sampler_options *options, struct sampler **ret);
/* The message that this thread's last failed sampler_open has logged, to be shown elsewhere. */
const char *sampler_problem(void);
/* Takes the message over from another thread. */
void sampler_problem_set(const char *text);
/* NULL is legal. The sampler is the tasks' from then on. */
void sampler_close(struct sampler *sampler);
/* Its memory, without the ring buffers: these are the kernel's. */
size_t sampler_bytes(const struct sampler *sampler);

/*
 * Stops sampling, in a moment if there are tasks; records that the ring buffers hold can still be
 * read. Later calls do nothing.
 */
void sampler_stop(struct sampler *sampler);

/* "auto", "perf", "bpf", "bpf-exact"...; -EINVAL. */
int sampler_source_of(const char *word, enum sampler_source *ret);
const char *sampler_source_word(enum sampler_source source);
/* The words that sampler_source_of knows, for messages. */
const char *sampler_source_words(void);
/* Who takes the samples, and if that is perf though BPF was asked for, why: "BPF (exact)". */
const char *sampler_source_text(const struct sampler *sampler);
bool sampler_is_bpf(const struct sampler *sampler);

/* Whether has_probes was asked for. */
bool sampler_has_probes(const struct sampler *sampler);
/* The event of a uprobe has its samples taken. kind is one of BPF_KIND_ (bpf_layout.h). */
int sampler_attach_probe(const struct sampler *sampler, int event_fd, unsigned kind);
/* As bpf_source_program. */
int sampler_probe_program(const struct sampler *sampler, int kind);
/* As bpf_source_hits. */
uint64_t sampler_probe_hits(const struct sampler *sampler, pid_t pid, unsigned kind);

/*
 * Samples of these processes alone are wanted; those of others may still come. Until the first
 * call all samples come, and those of programs that have begun in the last 200 ms always do.
 */
void sampler_want(struct sampler *sampler, const pid_t *pids, size_t n);
void sampler_want_one(struct sampler *sampler, pid_t pid);
/* Samples of probes of these processes alone are wanted; groups as bpf_source_want_of has them. */
void sampler_want_probes(struct sampler *sampler, const pid_t *pids, const uint64_t *groups,
			 size_t n, size_t n_groups);

/* The event's name, for titles: "cycles" or "cpu-clock". */
const char *sampler_event(const struct sampler *sampler);
/* The length of snapshots: stack_bytes of the options, or less if there are many CPUs. */
uint32_t sampler_stack_bytes(const struct sampler *sampler);

/* The longest time between two reads: a quarter of the time in which a ring buffer is full. */
uint64_t sampler_read_ns(const struct sampler *sampler);

/* Calls fn for each record in the ring buffers, one after the other: side rings, then samples. */
void sampler_read(struct sampler *sampler, sampler_fn fn, void *arg);

/* Whether a record waits in a side ring; reads memory only, without a system call. */
bool sampler_has_side(const struct sampler *sampler);
/*
 * Becomes readable when a program begins on one of the CPUs, and when half a side ring has been
 * written since it last did; it may be readable without a record. A reader of all rings calls
 * sampler_clear_side after it was. -1: look at sampler_has_side by the clock.
 */
int sampler_side_fd(const struct sampler *sampler);
void sampler_clear_side(const struct sampler *sampler);

/*
 * Descriptors for poll(2), readable when a quarter of a ring buffer of samples has been filled
 * since the last poll. Returns their number.
 */
size_t sampler_fds(const struct sampler *sampler, const int **ret_fds);

/* Whether there are records of programs that begin. */
bool sampler_hears_exec(const struct sampler *sampler);
/* Whether there are records of mappings, forks and ends of all processes. */
bool sampler_follows_all(const struct sampler *sampler);

void sampler_stats(const struct sampler *sampler, struct sampler_stats *ret);

#endif
