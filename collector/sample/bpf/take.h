// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * shape:   an occasion to take a sample of the running thread -> a record in the ring buffer
 * units:   as ../bpf_layout.h
 * threads: the thread that is sampled; drafts are the CPU's
 * errors:  a sample without room is counted
 * source:  bpf-helpers(7); ../bpf_layout.h for what comes out
 *
 * The program copies the registers of user mode, the two call chains, and the stack: from the stack
 * pointer to the thread's end, which is where the thread pointer points (the C libraries keep a
 * thread's own data on top of its stack), or for a process's first thread where exec has put the
 * arguments.
 *
 * A page of the stack that is not in memory cannot be read here: it is named in the record, and
 * what it was is for the collector to find out.
 *
 * There are three ways to take a sample, for three ages of kernels:
 *
 *   take_exact    copies so many bytes as there are (bpf_probe_read_user_dynptr, Linux 6.16)
 *   take_slices   copies whole pages (bpf_ringbuf_reserve_dynptr, Linux 5.19)
 *   take_scratch  copies whole pages into memory of the CPU, and from there into the ring buffer
 *
 * The maps here are those of the program that includes this file.
 */
#ifndef FG_SAMPLE_BPF_TAKE_H
#define FG_SAMPLE_BPF_TAKE_H

#include <linux/bpf.h>

#include <linux/bpf_perf_event.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "../bpf_layout.h"
#include "task.h"

#define static_assert _Static_assert

#define THREAD_BYTES 16384 /* of the kernel's stack of a thread */

extern int bpf_probe_read_user_dynptr(const struct bpf_dynptr *to, __u32 off, __u32 len,
				      const void *from) __ksym __weak;

const volatile struct bpf_config config SEC(".rodata.config");
struct bpf_shared shared SEC(".data.shared");

/* When a sample is taken, and of what. */
struct occasion {
	void *ctx; /* the program's */
	__u64 now_ns, period, weight, wait;
	__u32 flags;	  /* of the record */
	int is_in_kernel; /* the thread was interrupted in the kernel */
	int is_probe;	  /* ctx is the registers of user mode */
	int is_old;	  /* the kernel has no bpf_task_pt_regs */
};

/* The stack that a sample is to have, by pages. */
struct plan {
	__u64 first; /* address of the page of the stack pointer */
	__u64 end;
	__u64 missing;
	__u32 n_pages, n_missing;
	__u32 knows_end;
	__u32 is_cut;
};

/* Head and chains of a record while they are made. */
struct draft {
	struct bpf_sample_head head;
	__u64 chains[2 * (BPF_MAX_CHAIN + 1)];
};

#define CHAINS_OFF sizeof(struct bpf_sample_head)
#define STACK_OFF  sizeof(struct draft)

/*
 * The plan is here, and not on the stack, because the verifier does not follow what is in a map:
 * there are too many ways through 17 pages.
 */
struct wide_draft {
	struct draft draft;
	__u8 stack[BPF_MAX_PAGES * BPF_PAGE_BYTES];
	struct plan plan;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20); /* the collector sets it */
} ring SEC(".maps");

/* PIDs of processes whose samples are wanted. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BPF_MAX_WANTED);
	__type(key, __u32);
	__type(value, __u64);
} wanted SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct draft);
} drafts SEC(".maps");

/*
 * By CPU: a value of a per-CPU map has 32 KiB at most. One entry unless sample_scratch is loaded.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wide_draft);
} wide_drafts SEC(".maps");

static __always_inline int is_wanted(__u32 pid)
{
	return pid != 0 && (shared.is_all || bpf_map_lookup_elem(&wanted, &pid));
}

/* Whether so much time has passed since the last samples that another one is taken now. */
static __always_inline int is_due(__u64 *next_ns, __u64 interval_ns, __u64 now_ns)
{
	__u64 earliest_ns, next;

	if (!interval_ns)
		return 1;
	next = *next_ns;
	if (now_ns < next)
		return 0;
	earliest_ns = now_ns - BPF_BURST * interval_ns;
	*next_ns = (next > earliest_ns ? next : earliest_ns) + interval_ns;
	return 1;
}

/*
 * Kernels from 5.15 on say where the registers are; before, they are on top of the kernel's stack.
 */
static __always_inline int read_regs(struct task_struct *task, int is_old, struct pt_regs *to)
{
	const void *from;

	if (is_old)
		from = BPF_CORE_READ(task, stack) + THREAD_BYTES - sizeof(*to);
	else
		from = (const void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	return bpf_probe_read_kernel(to, sizeof(*to), from);
}

static __always_inline void plan_stack(struct task_struct *task, __u64 sp, struct plan *plan)
{
	const __u32 limit =
		config.stack_bytes <= BPF_MAX_STACK ? config.stack_bytes : BPF_MAX_STACK;
	const __u64 end = stack_end(task, sp);

	plan->first = sp & ~(__u64)(BPF_PAGE_BYTES - 1);
	plan->knows_end = end != 0;
	plan->end = end;
	plan->is_cut = !end || end - sp > limit;
	if (plan->is_cut)
		plan->end = sp + limit;
	plan->n_pages = (plan->end - 1 - plan->first) / BPF_PAGE_BYTES + 1;
	if (plan->n_pages > BPF_MAX_PAGES)
		plan->n_pages = BPF_MAX_PAGES;
	plan->missing = 0;
	plan->n_missing = 0;
}

/* Ends the stack in front of a page. */
static __always_inline void cut_plan(struct plan *plan, __u32 page)
{
	plan->n_pages = page;
	plan->end = plan->first + (__u64)page * BPF_PAGE_BYTES;
	plan->is_cut = 1;
}

/* Notes that a page could not be read. Whether the stack ends in front of it. */
static __always_inline int miss_page(struct plan *plan, __u32 page)
{
	if (!plan->knows_end || plan->n_missing >= BPF_MAX_UNREAD) {
		cut_plan(plan, page);
		return 1;
	}
	plan->missing |= 1ull << (page & 63);
	plan->n_missing++;
	return 0;
}

static long probe_page(__u32 page, struct plan *plan)
{
	__u8 byte;

	if (bpf_probe_read_user(&byte, 1, (const void *)(plan->first + page * BPF_PAGE_BYTES)) == 0)
		return 0;
	return miss_page(plan, page);
}

/* Tells the verifier, past the optimizer, that n is at most BPF_MAX_CHAIN. */
static __always_inline __u64 bound(__u64 n)
{
	asm volatile("%0 &= 127" : "+r"(n));
	return n;
}

static_assert(BPF_MAX_CHAIN == 127, "bound() says so");

/* Collects the two chains, one behind the other. Returns the number of addresses. */
static __always_inline __u32 take_chains(const struct occasion *occasion, struct draft *draft,
					 int has_user)
{
	const __u32 size = BPF_MAX_CHAIN * sizeof(__u64);
	__u64 n_kernel = 0, n_user = 0;
	long got;

	if (occasion->is_in_kernel) {
		got = bpf_get_stack(occasion->ctx, draft->chains, size, 0);
		if (got > 0)
			n_kernel = bound((__u64)got / sizeof(__u64));
	}
	if (has_user) {
		got = bpf_get_stack(occasion->ctx, draft->chains + n_kernel, size,
				    BPF_F_USER_STACK);
		if (got > 0)
			n_user = bound((__u64)got / sizeof(__u64));
	}
	draft->head.n_kernel = n_kernel;
	draft->head.n_user = n_user;
	return n_kernel + n_user;
}

static __always_inline void count_lost(const struct bpf_sample_head *head)
{
	__sync_fetch_and_add(&shared.lost, head->weight);
}

/* The registers of user mode, as the record has them. Returns the stack pointer; 0: none. */
static __always_inline __u64 take_user_regs(const struct occasion *occasion,
					    struct task_struct *task, __u64 *to)
{
	struct pt_regs regs;

	if (occasion->is_probe)
		return take_regs(to, occasion->ctx);
	return read_regs(task, occasion->is_old, &regs) == 0 ? take_regs(to, &regs) : 0;
}

/*
 * Everything but the stack. Returns the number of addresses in the draft's chains; plan has no
 * pages if there is no stack to copy.
 */
static __always_inline __u32 begin_draft(const struct occasion *occasion, struct draft *draft,
					 struct plan *plan)
{
	struct task_struct *const task = (void *)bpf_get_current_task();
	const int is_kernel = BPF_CORE_READ(task, flags) & PF_KTHREAD || !BPF_CORE_READ(task, mm);
	struct bpf_sample_head *const head = &draft->head;
	const __u64 id = bpf_get_current_pid_tgid();

	head->time_ns = occasion->now_ns;
	head->pid = id >> 32;
	head->tid = (__u32)id;
	head->cpu = bpf_get_smp_processor_id();
	head->period = occasion->period;
	head->wait = occasion->wait;
	head->weight = occasion->weight;
	head->flags = occasion->flags;
	head->sp = head->stack_addr = head->missing = 0;
	head->stack_off = head->stack_len = 0;
	bpf_get_current_comm(head->comm, sizeof(head->comm));
	plan->n_pages = plan->n_missing = plan->is_cut = 0;
	plan->missing = 0;
	if (!is_kernel && config.stack_bytes)
		head->sp = take_user_regs(occasion, task, head->regs);
	if (head->sp) {
		head->flags |= BPF_HAS_REGS;
		plan_stack(task, head->sp, plan);
	}
	return take_chains(occasion, draft, !is_kernel);
}

static __always_inline void end_draft(struct bpf_sample_head *head, const struct plan *plan,
				      __u32 stack_off, __u64 stack_addr)
{
	head->stack_off = stack_off;
	head->stack_addr = stack_addr;
	head->stack_len = plan->n_pages && plan->end > stack_addr ? plan->end - stack_addr : 0;
	head->missing = plan->missing;
	head->flags |= plan->is_cut ? BPF_IS_CUT : 0;
	if (plan->missing)
		__sync_fetch_and_add(&shared.unread, 1);
}

/* What the callbacks that copy pages use. */
struct copying {
	struct bpf_dynptr *to;
	const struct plan *plan;
	__u64 sp;
	__u32 off;
	__u32 failed;
};

static long copy_part(__u32 page, struct copying *copying)
{
	const struct plan *const plan = copying->plan;
	__u64 from = plan->first + page * BPF_PAGE_BYTES;
	__u64 end = from + BPF_PAGE_BYTES;

	if (plan->missing >> (page & 63) & 1)
		return 0;
	if (from < copying->sp)
		from = copying->sp;
	if (end > plan->end)
		end = plan->end;
	if (end <= from)
		return 0;
	if (bpf_probe_read_user_dynptr(copying->to, copying->off + (__u32)(from - copying->sp),
				       (__u32)(end - from), (const void *)from) < 0)
		copying->failed |= 1u << (page & 31);
	return 0;
}

static long copy_page(__u32 page, struct copying *copying)
{
	const struct plan *const plan = copying->plan;
	void *to;

	if (plan->missing >> (page & 63) & 1)
		return 0;
	to = bpf_dynptr_data(copying->to, copying->off + page * BPF_PAGE_BYTES, BPF_PAGE_BYTES);
	if (!to || bpf_probe_read_user(to, BPF_PAGE_BYTES,
				       (const void *)(plan->first + page * BPF_PAGE_BYTES)) < 0)
		copying->failed |= 1u << (page & 31);
	return 0;
}

/* A sample on its way into the ring buffer. */
struct dynamic_sample {
	struct draft *draft;
	__u32 len; /* of head and chains */
	__u32 stack_len;
	struct plan plan;
	struct copying copying;
};

/* Makes head and chains, and room in the ring buffer. False: there is no sample, and no room. */
static __always_inline int begin_dynamic(const struct occasion *occasion, int is_exact,
					 struct bpf_dynptr *to, struct dynamic_sample *sample)
{
	struct plan *const plan = &sample->plan;
	const __u32 zero = 0;
	struct bpf_sample_head *head;

	__builtin_memset(sample, 0, sizeof(*sample));
	sample->draft = bpf_map_lookup_elem(&drafts, &zero);
	if (!sample->draft)
		return 0;
	head = &sample->draft->head;
	sample->len = CHAINS_OFF + begin_draft(occasion, sample->draft, plan) * sizeof(__u64);
	if (plan->n_pages)
		bpf_loop(plan->n_pages, probe_page, plan, 0);
	end_draft(head, plan, sample->len, is_exact ? head->sp : plan->first);
	sample->stack_len = is_exact ? head->stack_len : plan->n_pages * BPF_PAGE_BYTES;
	if (sample->stack_len > BPF_MAX_PAGES * BPF_PAGE_BYTES)
		sample->stack_len = 0;
	if (bpf_ringbuf_reserve_dynptr(&ring, sample->len + sample->stack_len, 0, to)) {
		count_lost(head);
		bpf_ringbuf_discard_dynptr(to, BPF_RB_NO_WAKEUP);
		return 0;
	}
	sample->copying =
		(struct copying){.to = to, .plan = plan, .sp = head->sp, .off = sample->len};
	return 1;
}

static __always_inline void end_dynamic(struct bpf_dynptr *to, struct dynamic_sample *sample)
{
	__u32 len = sample->len;

	sample->draft->head.missing |= sample->copying.failed;
	if (len > sizeof(*sample->draft))
		len = sizeof(*sample->draft);
	bpf_dynptr_write(to, 0, sample->draft, len, 0);
	bpf_ringbuf_submit_dynptr(to, BPF_RB_NO_WAKEUP);
	__sync_fetch_and_add(&shared.taken, 1);
}

/* A record without a stack and without chains. */
static __always_inline void take_head(const struct occasion *occasion)
{
	const __u32 zero = 0;
	struct draft *const draft = bpf_map_lookup_elem(&drafts, &zero);
	const __u64 id = bpf_get_current_pid_tgid();
	struct bpf_sample_head *head;

	if (!draft)
		return;
	head = &draft->head;
	__builtin_memset(head, 0, sizeof(*head));
	head->time_ns = occasion->now_ns;
	head->pid = id >> 32;
	head->tid = (__u32)id;
	head->cpu = bpf_get_smp_processor_id();
	head->period = occasion->period;
	head->wait = occasion->wait;
	head->weight = occasion->weight;
	head->flags = occasion->flags | BPF_HAS_REGS;
	head->sp = take_regs(head->regs, occasion->ctx);
	bpf_get_current_comm(head->comm, sizeof(head->comm));
	if (bpf_ringbuf_output(&ring, head, sizeof(*head), BPF_RB_NO_WAKEUP) < 0)
		count_lost(head);
	else
		__sync_fetch_and_add(&shared.taken, 1);
}

/* The three ways to take a sample. */
static __always_inline void take_exact(const struct occasion *occasion)
{
	struct dynamic_sample sample;
	struct bpf_dynptr to;

	if (!begin_dynamic(occasion, 1, &to, &sample))
		return;
	if (sample.stack_len > 0 &&
	    (sample.plan.missing ||
	     bpf_probe_read_user_dynptr(&to, sample.len, sample.stack_len,
					(const void *)sample.draft->head.sp) < 0))
		bpf_loop(sample.plan.n_pages, copy_part, &sample.copying, 0);
	end_dynamic(&to, &sample);
}

static __always_inline void take_slices(const struct occasion *occasion)
{
	struct dynamic_sample sample;
	struct bpf_dynptr to;

	if (!begin_dynamic(occasion, 0, &to, &sample))
		return;
	if (sample.stack_len > 0)
		bpf_loop(sample.plan.n_pages, copy_page, &sample.copying, 0);
	end_dynamic(&to, &sample);
}

static __always_inline void take_scratch(const struct occasion *occasion)
{
	const __u32 cpu = bpf_get_smp_processor_id();
	struct wide_draft *const wide = bpf_map_lookup_elem(&wide_drafts, &cpu);
	struct plan *plan;
	__u64 len;

	if (!wide)
		return;
	plan = &wide->plan;
	begin_draft(occasion, &wide->draft, plan);
#pragma unroll
	for (__u32 i = 0; i < BPF_MAX_PAGES; i++) {
		if (i < plan->n_pages &&
		    bpf_probe_read_user(wide->stack + i * BPF_PAGE_BYTES, BPF_PAGE_BYTES,
					(const void *)(plan->first + i * BPF_PAGE_BYTES)) < 0)
			miss_page(plan, i);
	}
	len = (__u64)plan->n_pages * BPF_PAGE_BYTES;
	end_draft(&wide->draft.head, plan, STACK_OFF, plan->first);
	len += STACK_OFF;
	/* For the verifier, past the optimizer: no more than a draft and its stack. */
	asm volatile("if %0 <= %1 goto +1\n%0 = 0" : "+r"(len) : "i"(sizeof(*wide)));
	if (bpf_ringbuf_output(&ring, wide, len, BPF_RB_NO_WAKEUP) < 0)
		count_lost(&wide->draft.head);
	else
		__sync_fetch_and_add(&shared.taken, 1);
}

#endif
