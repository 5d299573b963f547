// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the BPF program of samples and the collector have in common
 * units:   CLOCK_MONOTONIC nanoseconds, bytes, PIDs of the initial PID namespace
 * threads: the kernel writes, the collector reads
 * errors:  none
 * source:  bpf/sampler.bpf.c
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
#define BPF_BURST	 8u	      /* samples of a CPU that may follow at once */
#define BPF_MAX_WANTED	 32768u	      /* processes: as many as process/targets.h keeps */

#define BPF_HAS_REGS 1u /* registers, and a stack */
#define BPF_IS_CUT   2u /* the stack goes on behind the copy */

struct bpf_sample_head {
	__u64 time_ns;
	__u32 pid, tid;
	__u32 cpu, flags;
	__u64 period;
	__u64 weight;	  /* samples that this one stands for, itself among them */
	__u64 sp;	  /* if BPF_HAS_REGS */
	__u64 stack_addr; /* at or below sp */
	__u64 missing;	  /* bit i: the page i pages above that of sp could not be read */
	__u32 stack_off, stack_len;
	__u32 n_kernel, n_user;
	__u64 regs[BPF_MAX_REGS]; /* as sample_regs.h has them */
};

/* Set before the programs are loaded. */
struct bpf_config {
	__u32 stack_bytes; /* limit of a copy; 0: neither registers nor stack */
	__u32 unused;
	__u64 interval_ns; /* shortest mean time between two samples of a CPU; 0: any */
};

/* In memory that both sides have. */
struct bpf_shared {
	__u64 is_all; /* set by the collector: all processes are wanted */
	/* Counted by the programs: */
	__u64 taken;  /* records */
	__u64 lost;   /* samples without room in the ring buffer, with what they stood for */
	__u64 merged; /* samples for which a later one stands */
	__u64 unread; /* samples of which a page of the stack could not be read */
};

#endif
