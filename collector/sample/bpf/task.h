// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * shape:   a thread, as the kernel has it -> its user registers, and where its stack ends
 * units:   addresses of the thread's process
 * threads: any
 * errors:  0 where something is not known
 * source:  the kernel's <linux/sched.h>, arch/x86 and arch/arm64
 *
 * For BPF programs. The structs of the kernel have the members that are used, and libbpf finds
 * where these lie in the running kernel (CO-RE). Before this file come linux/bpf.h, bpf_helpers.h,
 * bpf_core_read.h and bpf_layout.h.
 */
#ifndef FG_SAMPLE_BPF_TASK_H
#define FG_SAMPLE_BPF_TASK_H

#include <linux/ptrace.h>

#define PF_KTHREAD 0x00200000

#if defined(__TARGET_ARCH_x86)
struct thread_struct {
	unsigned long fsbase;
} __attribute__((preserve_access_index));
#elif defined(__TARGET_ARCH_arm64)
struct thread_tls {
	unsigned long tp_value;
} __attribute__((preserve_access_index));
struct thread_struct {
	struct thread_tls uw;
} __attribute__((preserve_access_index));
#endif

struct mm_struct {
	unsigned long start_stack;
} __attribute__((preserve_access_index));

struct file;
struct userfaultfd_ctx;

/* Without a member in a kernel without CONFIG_USERFAULTFD. */
struct vm_userfaultfd_ctx {
	struct userfaultfd_ctx *ctx;
} __attribute__((preserve_access_index));

struct vm_area_struct {
	unsigned long vm_end;
	struct file *vm_file;
	struct vm_userfaultfd_ctx vm_userfaultfd_ctx;
} __attribute__((preserve_access_index));

struct sched_entity {
	__u64 sum_exec_runtime;
} __attribute__((preserve_access_index));

/* Without members in a kernel without CONFIG_SCHED_INFO. */
struct sched_info {
	unsigned long long run_delay;
	unsigned long long last_arrival;
	unsigned long long last_queued;
} __attribute__((preserve_access_index));

struct task_struct {
	unsigned int flags;
	void *stack;
	struct mm_struct *mm;
	struct thread_struct thread;
	int pid, tgid;
	unsigned int __state;
	int on_cpu, on_rq;
	__u64 start_time;
	unsigned long nvcsw, nivcsw;
	struct sched_entity se;
	struct sched_info sched_info;
	char comm[16];
} __attribute__((preserve_access_index));

#if defined(__TARGET_ARCH_x86)
#define USER_CS 0x33

/* Copies the registers as sample_regs.h has them. The stack pointer; 0: not of a 64-bit process. */
static __always_inline __u64 take_regs(__u64 *to, const struct pt_regs *from)
{
	if ((from->cs & 0xffff) != USER_CS)
		return 0;
	to[0] = from->rax;
	to[1] = from->rbx;
	to[2] = from->rcx;
	to[3] = from->rdx;
	to[4] = from->rsi;
	to[5] = from->rdi;
	to[6] = from->rbp;
	to[7] = from->rsp;
	to[8] = from->rip;
	to[9] = from->r8;
	to[10] = from->r9;
	to[11] = from->r10;
	to[12] = from->r11;
	to[13] = from->r12;
	to[14] = from->r13;
	to[15] = from->r14;
	to[16] = from->r15;
	return from->rsp;
}

static __always_inline void take_place(const struct pt_regs *from, __u64 *sp, __u64 *pc)
{
	*sp = from->rsp;
	*pc = from->rip;
}

static __always_inline __u64 thread_pointer(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread.fsbase);
}

/* The system call of the registers, which lie at from in the kernel; negative: none. */
static __always_inline int syscall_of(const struct pt_regs *regs, const void *from)
{
	return (int)regs->orig_rax;
}
#elif defined(__TARGET_ARCH_arm64)
#define pt_regs user_pt_regs

static __always_inline __u64 take_regs(__u64 *to, const struct pt_regs *from)
{
	if (from->pstate & 0x1f) /* EL0 of 64 bits */
		return 0;
#pragma unroll
	for (int i = 0; i < 31; i++)
		to[i] = from->regs[i];
	to[31] = from->sp;
	to[32] = from->pc;
	return from->sp;
}

static __always_inline void take_place(const struct pt_regs *from, __u64 *sp, __u64 *pc)
{
	*sp = from->sp;
	*pc = from->pc;
}

static __always_inline __u64 thread_pointer(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread.uw.tp_value);
}

struct pt_regs___kernel {
	int syscallno;
} __attribute__((preserve_access_index));

static __always_inline int syscall_of(const struct pt_regs *regs, const void *from)
{
	return BPF_CORE_READ((const struct pt_regs___kernel *)from, syscallno);
}
#endif

/*
 * Where the thread's stack ends; 0: not known, as in a coroutine.
 */
static __always_inline __u64 stack_end(struct task_struct *task, __u64 sp)
{
	const __u64 thread = thread_pointer(task);
	__u64 first;

	if (thread > sp && thread - sp < BPF_THREAD_REACH)
		return thread;
	first = BPF_CORE_READ(task, mm, start_stack);
	return first > sp && first - sp < BPF_THREAD_REACH ? first : 0;
}

#endif
