// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the BPF programs of samples and the collector have in common
 * units:   CLOCK_MONOTONIC nanoseconds, bytes, PIDs of the initial PID namespace
 * threads: the kernel writes, the collector reads
 * errors:  none
 * source:  bpf/sampler.bpf.c, bpf/probes.bpf.c
 *
 * A record of the ring buffer is
 *
 *   head, n_kernel addresses, n_user addresses, maybe a gap, the copy of the stack at stack_off
 *
 * The copy begins at stack_addr, which may be below the stack pointer, and has stack_len bytes;
 * more bytes may follow, up to the end of a page.
 * Pages whose bit in missing is set could not be read; the copy has garbage there.
 *
 * Both compilers include this file: it needs nothing but the kernel's integer types.
 */
#ifndef FG_SAMPLE_BPF_LAYOUT_H
#define FG_SAMPLE_BPF_LAYOUT_H

#include <linux/types.h>

#define BPF_PAGE_BYTES	 4096u
#define BPF_MAX_STACK	 64000u
#define BPF_MAX_PAGES	 17u /* that a copy of BPF_MAX_STACK bytes can touch */
#define BPF_MAX_CHAIN	 127u
#define BPF_MAX_REGS	 33u
#define BPF_MAX_UNREAD	 8u	      /* unreadable pages of a stack, 3 us each */
#define BPF_YOUNG_NS	 200000000ull /* so long samples of a new program are wanted */
#define BPF_THREAD_REACH (1ull << 30) /* no thread's stack is larger */
#define BPF_RATE_NS	 100000000ull
#define BPF_LEAST_PARK	 32768ull /* nanoseconds: the least threshold, beside none */
#define BPF_BURST	 8u	  /* samples of a CPU that may follow at once */
#define BPF_MAX_PACES	 4096u	  /* processes, by kinds, whose probes are hit */
#define BPF_LONGEST_REST (BPF_PAGE_BYTES + 2048u) /* of a sample, beside the copy of its stack */
#define BPF_MAX_WAITS	 16384u			  /* sampled waits that have not ended */
#define BPF_MAX_WANTED	 32768u /* processes: as many as process/targets.h keeps */
#define BPF_MAX_DEATHS	 2048u	/* records of deaths of a process in a second: an agent has 820 */

#define BPF_HAS_REGS 1u /* registers, and a stack */
#define BPF_IS_CUT   2u /* the stack goes on behind the copy */

/* In the flags of a record: what it is a sample of. */
#define BPF_KIND_SHIFT 8u
#define BPF_KIND_CPU   0u
#define BPF_KIND_ALLOC 1u
/* Of a wait for a monitor: where it begins, and where it ends, without a stack. */
#define BPF_KIND_ENTER	 2u
#define BPF_KIND_ENTERED 3u
/*
 * Of a thread that has parked. Where it parks nothing is told. Where it ends, period is how long it
 * was. Of parks shorter than wait, which is the threshold then, each is told with the probability
 * period / wait.
 */
#define BPF_KIND_PARK	   4u
#define BPF_KIND_PARK_END  5u
#define BPF_KIND_EXCEPTION 6u
/* Of objects of an allocation that have died, in registers; without a stack. */
#define BPF_KIND_DEAD 7u
#define BPF_KINDS     8u

struct bpf_sample_head {
	__u64 time_ns;
	__u32 pid, tid;
	__u32 cpu, flags;
	__u64 period;	  /* of an event of a CPU; of BPF_KIND_PARK_END: nanoseconds */
	__u64 wait;	  /* of BPF_KIND_PARK_END: nanoseconds */
	__u64 weight;	  /* samples that this one stands for, itself among them */
	__u64 sp;	  /* if BPF_HAS_REGS */
	__u64 stack_addr; /* at or below sp */
	__u64 missing;	  /* bit i: the page i pages above that of sp could not be read */
	__u32 stack_off, stack_len;
	__u32 n_kernel, n_user;
	char comm[16];		  /* of the thread, as the kernel has it */
	__u64 regs[BPF_MAX_REGS]; /* as sample_regs.h has them */
};

/* Set before the programs are loaded. */
struct bpf_config {
	__u32 stack_bytes;   /* limit of a copy; 0: neither registers nor stack */
	__u32 wants_watched; /* of allocations only those whose objects have a number */
	__u64 interval_ns;   /* shortest mean time between two samples of a CPU; 0: any */
	/* So many samples are taken in BPF_RATE_NS: of probes of one kind in a process, of all. */
	__u64 process_probe_limit, probe_limit; /* 0: any number */
};

/* A process, and samples of it that are alike: a kind, and a group of the kind. */
struct bpf_process_kind {
	__u32 pid;
	__u16 kind, group;
};

/*
 * How many hits there are. CPUs that race for a rate make it a little wrong, and no sum of samples.
 */
struct bpf_rate {
	__u64 since_ns;
	__u64 hits, taken; /* since then */
	__u64 n;	   /* each n-th is taken; 0: not known yet, which means each */
	__u64 all_hits;
};

/* Of a process: parks shorter than the threshold are told by chance. */
struct bpf_park_rate {
	__u64 since_ns, taken; /* samples since then */
	__u64 threshold_ns;
	__u64 all_hits;
};

/* In memory that both sides have. */
struct bpf_shared {
	/* Set by the collector: */
	__u64 is_all; /* all processes are wanted */
	__u64 part;   /* of probes: bytes of a group in a crowded ring buffer; 0: any number */
	/* Counted by the programs: */
	__u64 taken;	 /* records */
	__u64 lost;	 /* samples without room in the ring buffer, with what they stood for */
	__u64 merged;	 /* samples for which a later one stands */
	__u64 unread;	 /* samples of which a page of the stack could not be read */
	__u64 unwatched; /* allocations that are not wanted because their objects have no number */
	__u64 deaths_lost; /* records of deaths without room, or past their limit */
};

#endif
