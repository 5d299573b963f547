// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the BPF program of threads and the collector have in common
 * units:   CLOCK_MONOTONIC nanoseconds, bytes, PIDs of the initial PID namespace
 * threads: the kernel writes, the collector reads
 * errors:  none
 * source:  bpf/threads.bpf.c
 *
 * A record of the ring buffer is
 *
 *   head, and if BPF_THREAD_HAS_STACK: the struct of the stack, stack_len bytes from its sp upwards
 *
 * Both compilers include this file: it needs nothing but the kernel's integer types.
 */
#ifndef FG_SAMPLE_BPF_THREADS_LAYOUT_H
#define FG_SAMPLE_BPF_THREADS_LAYOUT_H

#include "bpf_layout.h"

#define BPF_THREAD_MAX_KERNEL	 32u
#define BPF_THREAD_MAX_TAKEN	 65536u /* threads whose last stack is known by its switch count */
#define BPF_THREAD_MAX_STACKLESS 32768u /* processes whose stacks are not read */

#define BPF_THREAD_ON_CPU    1u
#define BPF_THREAD_ON_RQ     2u /* waits for a CPU, or runs; also for a while after it blocked */
#define BPF_THREAD_HAS_STACK 4u
#define BPF_THREAD_IS_CUT    8u	 /* the stack goes on behind the copy */
#define BPF_THREAD_CHANGED   16u /* no stack: the thread ran, or its process mapped memory */

struct bpf_thread_head {
	__u64 time_ns;
	__u64 start_ns;	 /* when the thread began */
	__u64 run_ns;	 /* so long it has run on a CPU */
	__u64 delay_ns;	 /* so long it has waited for one; 0: the kernel does not count it */
	__u64 switches;	 /* so often it has left a CPU */
	__u64 voluntary; /* of them by itself, to wait for something */
	__u32 pid, tid;
	__u32 flags;
	__u32 state; /* as the kernel has it; 0: runs or may run */
	__u32 stack_len, unused;
	char comm[16]; /* of the thread, as the kernel has it */
};

struct bpf_thread_stack {
	__u64 sp;
	__s32 syscall; /* -1: the thread is in none */
	__u32 n_kernel;
	__u64 regs[BPF_MAX_REGS]; /* as sample_regs.h has them */
	__u64 kernel[BPF_THREAD_MAX_KERNEL];
};

/* Set before the program is loaded. */
struct bpf_threads_config {
	__u32 stack_bytes; /* limit of a copy; 0: no stacks */
	__u32 unused;
};

/* Of which the stack was taken last, by TID. */
struct bpf_thread_taken {
	__u64 start_ns;
	__u64 switches;
};

/* In memory that both sides have; counted by the program. */
struct bpf_threads_shared {
	__u64 visited;	   /* threads of the whole system */
	__u64 lost;	   /* readings without room in the ring buffer */
	__u64 lost_stacks; /* stacks without room, whose readings came without them */
	__u64 reading;	   /* PID of the process whose stack is being read; 0: none */
	__u64 asked;	   /* since when the thread runs that asks, by the scheduler's clock */
};

#endif
