// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   events of CPUs, or probes -> samples, taken by a BPF program in the kernel
 * units:   bytes, hertz, PIDs of the initial PID namespace
 * threads: one at a time
 * errors:  negative errno, and a sentence that says why
 * source:  bpf(2), perf_event_open(2), libbpf; bpf/sampler.bpf.c, bpf/probes.bpf.c
 *
 * The program takes a sample of a wanted process alone, copies as much of the stack as there is,
 * and writes it into one ring buffer that all CPUs share. So a ring buffer holds more samples than
 * perf's, which have room for the longest stack in each: see sampler.h. Nobody is woken; the reader
 * comes by the clock.
 *
 * Three programs do the copy, for three ages of kernels. Without a choice of the caller's the first
 * one that the kernel loads is taken.
 *
 * A source of probes is a source of its own. It has a program for each kind of probe. A thread that
 * runs over a probe pays for its sample itself, so the samples of each process and kind are
 * limited, and those of all.
 */
#ifndef FG_SAMPLE_BPF_SOURCE_H
#define FG_SAMPLE_BPF_SOURCE_H

#include "sample/bpf_layout.h"
#include "sample/bpf_load.h"
#include "sample/record.h"

#define BPF_SOURCE_MAX_BYTES   ((size_t)64 << 20) /* of a ring buffer */
#define BPF_SOURCE_LEAST_BYTES ((size_t)1 << 20)

enum bpf_variant {
	BPF_ANY_VARIANT,
	BPF_EXACT,   /* Linux 6.16 */
	BPF_SLICES,  /* Linux 5.19 */
	BPF_SCRATCH, /* older ones */
};

struct bpf_source_options {
	enum bpf_variant variant;
	bool wants_watched;   /* of allocations only those whose deaths will be told */
	bool is_of_probes;    /* n_cpus and hz have no meaning then */
	bool has_links;	      /* of probes: programs can be linked, see uprobe_multi.h */
	uint32_t stack_bytes; /* limit of a copy of the stack; 0: neither registers nor stack */
	size_t n_cpus;
	unsigned hz;
	/*
	 * At most so many samples are taken a second, of all CPUs; others are merged. 0: any number
	 */
	unsigned max_hz;
	unsigned process_max_hz; /* of probes: so many of a kind and process; 0: any number */
	size_t ring_bytes;	 /* a power of two; 0: by CPUs and hz, or of probes by max_hz */
};

struct bpf_source; /* opaque */

/*
 * Loads a program. All processes are wanted at first, of probes none. Takes some 20 ms. why gets
 * the reason of an error.
 */
int bpf_source_open(const struct bpf_source_options *options, struct bpf_source **ret,
		    char why[BPF_LOAD_WHY_BYTES]);
void bpf_source_close(struct bpf_source *source); /* NULL is legal */

/* "exact", "slices" or "scratch". */
const char *bpf_source_variant(const struct bpf_source *source);
/* Its memory, without the kernel's and libbpf's. */
size_t bpf_source_bytes(const struct bpf_source *source);
size_t bpf_source_ring_bytes(const struct bpf_source *source);
/* The size of the ring buffer if options do not say it. */
size_t bpf_source_fit_ring(const struct bpf_source_options *options);

/*
 * The event of a CPU, which has no ring buffer of its own, has the program take its samples; of
 * probes, the event of a uprobe. kind is one of BPF_KIND_ (bpf_layout.h).
 */
int bpf_source_attach(const struct bpf_source *source, int event_fd, unsigned kind);
/*
 * The program of a kind, or of kind -1 one that does nothing, for a link; borrowed. 0: there are no
 * links.
 */
int bpf_source_program(const struct bpf_source *source, int kind);

/*
 * From now on samples of these processes alone are wanted. Calls that repeat the PIDs cost no
 * system call. If there are too many for the kernel's table, all processes are wanted again.
 */
void bpf_source_want(struct bpf_source *source, const pid_t *pids, size_t n);
/*
 * The same of probes, with each process's group, which is its container or user. While the ring
 * buffer is half full each of n_groups groups has a part of its room; samples past the part are
 * merged into later ones.
 */
void bpf_source_want_of(struct bpf_source *source, const pid_t *pids, const uint64_t *groups,
			size_t n, size_t n_groups);
/* This process is wanted too. */
void bpf_source_want_one(struct bpf_source *source, pid_t pid);
/*
 * So many times has a thread of the process hit probes of the kind, as far as is known; 0: never,
 * or not lately.
 */
uint64_t bpf_source_hits(const struct bpf_source *source, pid_t pid, unsigned kind);
/* How many processes had no room in the table, when it was most. */
size_t bpf_source_most_left_out(const struct bpf_source *source);

/*
 * Calls fn for each record in the ring buffer, and returns when it is empty, or when as many bytes
 * as it has room for have been read. *broken counts records that could not be decoded.
 */
void bpf_source_read(struct bpf_source *source, void (*fn)(void *arg, const struct record *record),
		     void *arg, uint64_t *broken);

/* As the program has counted so far. */
struct bpf_shared bpf_source_counters(const struct bpf_source *source);

#endif
