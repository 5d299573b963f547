// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the BPF programs of waits and the collector have in common
 * units:   CLOCK_MONOTONIC nanoseconds, bytes, PIDs of the initial PID namespace
 * threads: the kernel writes, the collector reads
 * errors:  none
 * source:  bpf/waits.bpf.c
 *
 * A record of the ring buffer is
 *
 *   head, stack_len bytes of the user stack from sp upwards
 *
 * Both compilers include this file: it needs nothing but the kernel's integer types.
 */
#ifndef FG_SAMPLE_BPF_WAITS_LAYOUT_H
#define FG_SAMPLE_BPF_WAITS_LAYOUT_H

#include "bpf_layout.h"

#define BPF_WAIT_MAX_KERNEL  32u
#define BPF_WAIT_MAX_THREADS 65536u /* whose waits are followed; the least recent are forgotten */
#define BPF_WAIT_MAX_PENDING 4096u  /* threads that are on their way back to user mode */
#define BPF_WAIT_COMM_BYTES  16u

#define BPF_WAIT_HAS_REGS 1u
#define BPF_WAIT_IS_CUT	  2u /* the stack goes on behind the copy, or was not read */
#define BPF_WAIT_IS_WAKER 4u /* the stack is that of the thread which ended the wait */

/* Who ended a wait. */
#define BPF_WAKER_UNKNOWN 0u
#define BPF_WAKER_THREAD  1u
#define BPF_WAKER_SOFTIRQ 2u /* a soft interrupt, which ran in the thread's time */
#define BPF_WAKER_IRQ	  3u /* an interrupt, which has nothing to do with the thread */

struct bpf_waker {
	__u32 kind;
	__u32 pid, tid;
	char comm[BPF_WAIT_COMM_BYTES]; /* terminated, unless it fills its bytes */
	__u32 unused;
};

/*
 * A wait, or several without a return to user mode between them, as in one system call: then the
 * lengths are sums, the time is that of the last one, and the rest that of the first.
 *
 * Or, with BPF_WAIT_IS_WAKER, the stack of the waker in the call that ended the wait, before or
 * behind the record of the wait: start_ns, since_ns and waited_tid are those of the wait, pid and
 * tid are the waker's, and there is no more than the flags, its name, the registers and the stack.
 */
struct bpf_wait_head {
	__u64 time_ns;	  /* when it ended: the thread was on a CPU again */
	__u64 start_ns;	  /* when the thread began */
	__u64 since_ns;	  /* when it began to wait */
	__u64 blocked_ns; /* without the wait for a CPU that followed */
	__u64 weight_ns;  /* whole quanta of blocked time for which it stands */
	__u64 sp;	  /* if BPF_WAIT_HAS_REGS */
	__u32 pid, tid;
	__u32 flags, n_waits;
	__s32 syscall; /* negative: the thread was in none */
	__u32 n_kernel;
	__u32 stack_len, waited_tid;	/* of the thread that waited; 0 unless BPF_WAIT_IS_WAKER */
	char comm[BPF_WAIT_COMM_BYTES]; /* of the thread, as the kernel has it */
	struct bpf_waker waker;
	__u64 regs[BPF_MAX_REGS]; /* as sample_regs.h has them */
	__u64 kernel[BPF_WAIT_MAX_KERNEL];
};

/* Set before the programs are loaded. */
struct bpf_waits_config {
	__u64 quantum_ns;  /* of blocked time, for a sample; not 0 */
	__u32 stack_bytes; /* limit of a copy; 0: no stacks */
	__u32 unused;
};

/* In memory that both sides have; counted by the programs. */
struct bpf_waits_shared {
	__u64 sampled; /* waits that were chosen */
	__u64 lost; /* records without room in the ring buffer, or of threads that went on first */
	__u64 refused; /* waits that the kernel would not have read; a later one stands for them */
	__u64 unread;  /* records without the stack, which could not be read */
	__u64 unended; /* waits whose end the kernel did not tell: of these no time is known */
	__u64 wakers_lost; /* stacks of wakers: no room, not readable, or the thread ended */
};

/* Of one CPU. */
struct bpf_waits_counts {
	__u64 waits; /* of wanted threads */
};

#endif
