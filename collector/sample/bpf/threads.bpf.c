// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Reads the threads of wanted processes, see ../thread_source.h, and ../bpf_threads_layout.h for
 * what comes out.
 *
 * The program runs in the read(2) of a process of the collector's, once for each thread of the
 * system. It reads the counters of the scheduler. A thread that does not run gets its stack copied
 * if it has left a CPU since the last copy: else it still waits where it waited. A page of the
 * stack that is not in memory is brought in, because the program may sleep.
 *
 * Memory that has a file behind it, or userfaultfd, is not read: such a page may never come, and no
 * stack of a JVM is there. Who maps such memory in the moment of the copy can still have the
 * program wait; so the program says whose stack it reads, and a process of its own runs it.
 *
 * A thread can wake up while it is copied. Its switch count tells, and the copy is thrown away.
 *
 * The read(2) returns when the ring buffer is half full, so that it can be emptied.
 *
 * A second program runs in the read(2) of whoever asks that process, and notes since when the asker
 * runs.
 */
#include <linux/bpf.h>

#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "../bpf_threads_layout.h"
#include "task.h"

#define EBUSY 16

char _license[] SEC("license") = "GPL";

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

const volatile struct bpf_threads_config config SEC(".rodata.config");
struct bpf_threads_shared shared SEC(".data.shared");

/* A record while it is made. Behind the longest stack is room for a page, for the verifier. */
struct draft {
	struct bpf_thread_head head;
	struct bpf_thread_stack stack;
	__u8 bytes[BPF_MAX_STACK + BPF_PAGE_BYTES];
};

#define STACK_OFF __builtin_offsetof(struct draft, bytes)

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20); /* the collector sets it */
} ring SEC(".maps");

/* PIDs of processes whose threads are wanted. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BPF_MAX_WANTED);
	__type(key, __u32);
	__type(value, __u64);
} wanted SEC(".maps");

/* Those of them whose stacks are not read. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BPF_THREAD_MAX_STACKLESS);
	__type(key, __u32);
	__type(value, __u64);
} stackless SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_THREAD_MAX_TAKEN);
	__type(key, __u32);
	__type(value, struct bpf_thread_taken);
} taken SEC(".maps");

/* One: the collector reads one thread after the other. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct draft);
} drafts SEC(".maps");

static __always_inline int is_on_cpu(struct task_struct *task)
{
	return bpf_core_field_exists(task->on_cpu) && task->on_cpu;
}

/*
 * Whether the thread ran until this program's own thread took its CPU, or the thread that asks, in
 * the same switch and so at the same time of the CPU's clock. It would run if nobody read.
 */
static __always_inline int is_displaced(struct task_struct *task)
{
	struct task_struct *const own = bpf_get_current_task_btf();

	return bpf_core_field_exists(task->sched_info.last_queued) && task->on_rq &&
	       task->sched_info.last_queued &&
	       (task->sched_info.last_queued == own->sched_info.last_arrival ||
		task->sched_info.last_queued == shared.asked);
}

static __always_inline __u64 switches_of(struct task_struct *task)
{
	return (__u64)task->nvcsw + task->nivcsw;
}

static __always_inline void take_head(struct task_struct *task, struct bpf_thread_head *head)
{
	head->switches = switches_of(task);
	head->voluntary = task->nvcsw;
	head->flags = is_on_cpu(task) || is_displaced(task) ? BPF_THREAD_ON_CPU : 0;
	head->flags |= task->on_rq ? BPF_THREAD_ON_RQ : 0;
	head->state = task->__state;
	head->run_ns = task->se.sum_exec_runtime;
	head->delay_ns =
		bpf_core_field_exists(task->sched_info.run_delay) ? task->sched_info.run_delay : 0;
	head->time_ns = bpf_ktime_get_ns();
	head->start_ns = task->start_time;
	head->pid = task->tgid;
	head->tid = task->pid;
	head->stack_len = head->unused = 0;
	if (bpf_probe_read_kernel(head->comm, sizeof(head->comm), task->comm) < 0)
		head->comm[0] = 0;
}

/* Whether the thread has a stack that nobody has seen. */
static __always_inline int is_stack_due(struct task_struct *task,
					const struct bpf_thread_head *head)
{
	const struct bpf_thread_taken *last;
	const __u32 tid = head->tid, pid = head->pid;

	if (!config.stack_bytes || bpf_map_lookup_elem(&stackless, &pid) ||
	    head->flags & BPF_THREAD_ON_CPU || task->flags & PF_KTHREAD || !task->mm)
		return 0;
	last = bpf_map_lookup_elem(&taken, &tid);
	return !last || last->switches != head->switches || last->start_ns != head->start_ns;
}

/* The memory in which a stack lies. */
struct place {
	__u64 end;
	int is_own; /* anonymous: a page that is missing comes from swap, or is made */
};

static long note_place(struct task_struct *task, struct vm_area_struct *vma, struct place *place)
{
	place->end = vma->vm_end;
	place->is_own = !vma->vm_file;
	if (bpf_core_field_exists(vma->vm_userfaultfd_ctx.ctx) && vma->vm_userfaultfd_ctx.ctx)
		place->is_own = 0;
	return 0;
}

/* What the callback that copies pages uses. */
struct copying {
	struct task_struct *task;
	struct draft *draft;
	__u64 sp;
	__u32 len;
	__u32 copied;
};

/* Copies what of a page belongs to the stack. 1: the page cannot be read. */
static long copy_page(__u32 page, struct copying *copying)
{
	const __u64 first = copying->sp & ~(__u64)(BPF_PAGE_BYTES - 1);
	const __u64 from = page ? first + (__u64)page * BPF_PAGE_BYTES : copying->sp;
	const __u64 end = first + ((__u64)page + 1) * BPF_PAGE_BYTES;
	__u64 off = from - copying->sp;
	__u64 len = end - from;

	if (off >= copying->len)
		return 1;
	if (len > copying->len - off)
		len = copying->len - off;
	if (off >= BPF_MAX_STACK || len > BPF_PAGE_BYTES)
		return 1;
	if (bpf_copy_from_user_task(copying->draft->bytes + off, len, (const void *)from,
				    copying->task, 0) < 0)
		return 1;
	copying->copied = off + len;
	return 0;
}

/* Copies len bytes of the stack, or as many pages as can be read. Returns the number of bytes. */
static __always_inline __u32 copy_bytes(struct task_struct *task, struct draft *draft, __u64 len)
{
	struct copying copying = {.task = task, .draft = draft, .sp = draft->stack.sp};

	/* For the verifier, past the optimizer: no more than there is room for. */
	asm volatile("if %0 <= %1 goto +1\n%0 = 0" : "+r"(len) : "i"(BPF_MAX_STACK));
	if (bpf_copy_from_user_task(draft->bytes, len, (const void *)copying.sp, task, 0) == 0)
		return len;
	copying.len = len;
	bpf_loop(BPF_MAX_PAGES, copy_page, &copying, 0);
	return copying.copied;
}

/* Where the copy of a stack ends; 0: nothing of it may be read. */
static __always_inline __u64 copy_end(const struct place *place, __u64 sp, __u64 end)
{
	const __u64 limit =
		config.stack_bytes <= BPF_MAX_STACK ? config.stack_bytes : BPF_MAX_STACK;

	if (!place->is_own || place->end <= sp)
		return 0;
	if (!end || end > place->end)
		end = place->end;
	return end - sp < limit ? end : sp + limit;
}

/* Negative: the process changes its mappings. */
static __always_inline long copy_stack(struct task_struct *task, struct draft *draft)
{
	const __u64 sp = draft->stack.sp;
	const __u64 end = stack_end(task, sp);
	struct place place = {};
	__u32 copied = 0;
	__u64 to;
	long err = bpf_find_vma(task, sp, note_place, &place, 0);

	if (err == -EBUSY)
		return err;
	to = err ? 0 : copy_end(&place, sp, end);
	if (to) {
		shared.reading = draft->head.pid;
		copied = copy_bytes(task, draft, to - sp);
		shared.reading = 0;
	}
	draft->head.stack_len = copied;
	if (!end || copied < end - sp)
		draft->head.flags |= BPF_THREAD_IS_CUT;
	return 0;
}

/* Registers, both stacks and the system call, of one and the same moment. */
static __always_inline void take_stack(struct task_struct *task, struct draft *draft)
{
	const void *const from = (const void *)bpf_task_pt_regs(task);
	struct bpf_thread_stack *const stack = &draft->stack;
	struct bpf_thread_head *const head = &draft->head;
	struct pt_regs regs;
	long got, err;

	if (bpf_probe_read_kernel(&regs, sizeof(regs), from) < 0)
		return;
	stack->sp = take_regs(stack->regs, &regs);
	if (!stack->sp)
		return;
	stack->syscall = syscall_of(&regs, from);
	got = bpf_get_task_stack(task, stack->kernel, sizeof(stack->kernel), 0);
	stack->n_kernel = got > 0 ? (__u64)got / sizeof(stack->kernel[0]) : 0;
	err = copy_stack(task, draft);
	if (!err && switches_of(task) == head->switches && !is_on_cpu(task)) {
		head->flags |= BPF_THREAD_HAS_STACK;
		return;
	}
	head->stack_len = 0;
	head->flags = (head->flags & ~BPF_THREAD_IS_CUT) | BPF_THREAD_CHANGED;
}

/* Writes the record, or without room for it the head alone. */
static __always_inline void write_draft(struct draft *draft)
{
	struct bpf_thread_head *const head = &draft->head;
	const struct bpf_thread_taken now = {head->start_ns, head->switches};
	const __u32 tid = head->tid;
	__u64 len = STACK_OFF + (__u64)head->stack_len;

	if (head->flags & BPF_THREAD_HAS_STACK) {
		asm volatile("if %0 <= %1 goto +1\n%0 = 0" : "+r"(len) : "i"(sizeof(*draft)));
		if (bpf_ringbuf_output(&ring, draft, len, BPF_RB_NO_WAKEUP) == 0) {
			bpf_map_update_elem(&taken, &tid, &now, BPF_ANY);
			return;
		}
		__sync_fetch_and_add(&shared.lost_stacks, 1);
		head->flags &= ~(BPF_THREAD_HAS_STACK | BPF_THREAD_IS_CUT);
		head->stack_len = 0;
	}
	if (bpf_ringbuf_output(&ring, head, sizeof(*head), BPF_RB_NO_WAKEUP) < 0)
		__sync_fetch_and_add(&shared.lost, 1);
}

SEC("iter.s/task")
int read_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *const task = ctx->task;
	const __u32 zero = 0;
	struct draft *draft;
	__u32 pid;

	if (!task)
		return 0;
	__sync_fetch_and_add(&shared.visited, 1);
	pid = task->tgid;
	if (!bpf_map_lookup_elem(&wanted, &pid))
		return 0;
	draft = bpf_map_lookup_elem(&drafts, &zero);
	if (!draft)
		return 0;
	take_head(task, &draft->head);
	if (is_stack_due(task, &draft->head))
		take_stack(task, draft);
	write_draft(draft);
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >
	    bpf_ringbuf_query(&ring, BPF_RB_RING_SIZE) / 2)
		bpf_seq_write(ctx->meta->seq, &zero, 1); /* ends the collector's read(2) */
	return 0;
}

/* The asker reads one byte, and so runs this for one thread of the system, whichever that is. */
SEC("iter/task")
int note_asker(struct bpf_iter__task *ctx)
{
	struct task_struct *const own = bpf_get_current_task_btf();
	const char byte = 0;

	if (bpf_core_field_exists(own->sched_info.last_arrival))
		shared.asked = own->sched_info.last_arrival;
	bpf_seq_write(ctx->meta->seq, &byte, sizeof(byte));
	return 0;
}
