// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Chooses waits of wanted processes by their length, see ../waits/wait_source.h, and
 * ../bpf_waits_layout.h for what comes out.
 *
 * on_switch runs at each switch of the scheduler, with its lock held. The thread that leaves its
 * CPU to wait gets the time noted; the one that comes back from a wait has its blocked time added
 * to what it owes. When that is a quantum or more, the wait that has just ended is chosen, and
 * read_wait is scheduled: the kernel calls it in the thread itself, on its way back to user mode.
 * There it may sleep, so that a page of the stack that is not in memory is brought in. The pages
 * are touched first, with nothing held; then room in the ring buffer is taken and filled without a
 * page fault, because who holds room keeps all later records waiting.
 *
 * Which thread is unwanted costs one look into a hash: by its process when it begins to wait, and
 * by its TID when it comes back.
 *
 * The time from the wake-up to the switch is no blocked time. The scheduler's lock holder knows it:
 * by the clock of the CPU's queue, which stands while the lock is held.
 *
 * One file, because all programs work on the same tables, which one object has.
 */
#include <linux/bpf.h>

#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "../bpf_waits_layout.h"
#include "task.h"

#define PF_EXITING     0x00000004
#define PF_KTHREAD     0x00200000
#define STATE_DEAD     0x00000080 /* TASK_DEAD */
#define SOFTIRQS_BYTES 640	  /* of the kernel's function handle_softirqs */
#define MOMENT_BITS    26	  /* of nanoseconds: 67 ms, in which the ring buffer is read once */
#define MAX_CALLERS    64	  /* of the kernel, of who wakes a thread */

char _license[] SEC("license") = "GPL";

/* Not in the C library's header of this age. The verifier knows it by its name. */
struct bpf_task_work {
	__u64 __opaque;
} __attribute__((aligned(8)));

/* Complete, so that it is the kernel's for libbpf. */
struct bpf_map {
	__u32 id;
} __attribute__((preserve_access_index));

/* The queue of runnable threads of a CPU, as a thread's scheduling class leads to it. */
struct rq {
	__u64 clock;
} __attribute__((preserve_access_index));

/* Without rq in a kernel without CONFIG_FAIR_GROUP_SCHED. */
struct cfs_rq {
	struct rq *rq;
} __attribute__((preserve_access_index));

struct sched_entity___queue {
	struct cfs_rq *cfs_rq;
} __attribute__((preserve_access_index));

struct task_struct___queue {
	struct sched_entity___queue se;
} __attribute__((preserve_access_index));

typedef int (*work_fn)(struct bpf_map *map, void *key, void *value);

/*
 * Its name and arguments are others before Linux 7.0. Not both of one object: libbpf looks for the
 * one that is missing in the kernel's modules, which takes CAP_SYS_ADMIN.
 */
#ifdef BEFORE_LINUX_7
extern int bpf_task_work_schedule_resume_impl(struct task_struct *task, struct bpf_task_work *work,
					      void *map__map, work_fn callback,
					      void *aux__prog) __ksym;
#define schedule_resume(task, work, map, callback)                                                 \
	bpf_task_work_schedule_resume_impl(task, work, map, callback, 0)
#else
extern int bpf_task_work_schedule_resume(struct task_struct *task, struct bpf_task_work *work,
					 void *map__map, work_fn callback) __ksym;
#define schedule_resume bpf_task_work_schedule_resume
#endif
extern int bpf_probe_read_user_dynptr(const struct bpf_dynptr *to, __u32 off, __u32 len,
				      const void *from) __ksym;

/* The functions by which interrupts come in lie between these, and those of soft interrupts. */
extern const void __irqentry_text_start __ksym __weak;
extern const void __irqentry_text_end __ksym __weak;
extern const void __softirqentry_text_start __ksym __weak;
extern const void __softirqentry_text_end __ksym __weak;
/* Does their work; it lies elsewhere since Linux 6.10, and has some 600 bytes. */
extern const void handle_softirqs __ksym __weak;

const volatile struct bpf_waits_config config SEC(".rodata.config");
struct bpf_waits_shared shared SEC(".data.shared");

/* What is known of a thread. */
struct waiter {
	__u64 start_ns; /* when it began: the TID may be another thread's by now */
	__u64 since_ns; /* when it began to wait; 0: it does not wait */
	__u64 woken_ns; /* when it was woken since; 0: not, or nobody looks */
	__u64 delay_ns; /* so long it had waited for a CPU before that, in its life */
	__u64 owed_ns;	/* blocked time that no sample stands for so far; less than a quantum */
};

/* A chosen wait whose thread is on its way back to user mode. */
struct pending {
	struct bpf_task_work work;
	struct bpf_wait_head head;
	__u64 sp, pc; /* where it was in user mode when it was chosen */
};

/* A waker of a wait that will be chosen. */
struct wakened {
	__u64 since_ns; /* when the wait began */
	struct bpf_waker waker;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20); /* the collector sets it */
} ring SEC(".maps");

/* PIDs of processes whose waits are wanted. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BPF_MAX_WANTED);
	__type(key, __u32);
	__type(value, __u64);
} wanted SEC(".maps");

/* By TID. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_WAIT_MAX_THREADS);
	__type(key, __u32);
	__type(value, struct waiter);
} waiters SEC(".maps");

/* By TID. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BPF_WAIT_MAX_PENDING);
	__type(key, __u32);
	__type(value, struct pending);
} pendings SEC(".maps");

/* By the TID of the thread that waits: its waker's stack. Empty unless on_waking is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BPF_WAIT_MAX_PENDING);
	__type(key, __u32);
	__type(value, struct pending);
} waker_pendings SEC(".maps");

/* By TID. Empty unless on_waking is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_WAIT_MAX_PENDING);
	__type(key, __u32);
	__type(value, struct wakened);
} wakers SEC(".maps");

/* PID -> the group whose part of the ring buffer its records take. Not there: group 0. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_MAX_WANTED);
	__type(key, __u32);
	__type(value, __u64);
} payers SEC(".maps");

/* The bytes that each group may write in a moment where the ring buffer is half full; 0: any. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} part SEC(".maps");

/* What a group has written in a moment. */
struct spent {
	__u64 moment, bytes;
};

/* By group. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_MAX_WANTED);
	__type(key, __u64);
	__type(value, struct spent);
} all_spent SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_waits_counts);
} counts SEC(".maps");

/* Of a wake-up. */
struct callers {
	__u64 addrs[MAX_CALLERS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct callers);
} all_callers SEC(".maps");

/* An empty struct pending: too large for the stack. */
const __u64 nothing[sizeof(struct pending) / sizeof(__u64)] SEC(".rodata.nothing");

static __always_inline void count_wait(void)
{
	const __u32 zero = 0;
	struct bpf_waits_counts *const own = bpf_map_lookup_elem(&counts, &zero);

	if (own)
		own->waits++;
}

static __always_inline __u64 run_delay_of(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->sched_info.run_delay))
		return 0;
	return task->sched_info.run_delay;
}

/*
 * How long the thread, which gets a CPU now, has waited for one in its life. The last part is not
 * counted yet: since it came into this CPU's queue.
 */
static __always_inline __u64 delay_of(struct task_struct *task)
{
	struct task_struct___queue *const queued = (void *)task;
	const __u64 counted_ns = run_delay_of(task);
	__u64 queued_ns, clock_ns;

	if (!bpf_core_field_exists(task->sched_info.last_queued) ||
	    !bpf_core_field_exists(queued->se.cfs_rq) ||
	    !bpf_core_field_exists(((struct cfs_rq *)0)->rq))
		return counted_ns;
	queued_ns = task->sched_info.last_queued;
	clock_ns = queued->se.cfs_rq->rq->clock;
	return counted_ns + (queued_ns && clock_ns > queued_ns ? clock_ns - queued_ns : 0);
}

/* The thread is about to leave its CPU, to wait. */
static __always_inline void begin_wait(struct task_struct *task, unsigned int state, __u64 now_ns)
{
	const __u32 pid = task->tgid, tid = task->pid;
	struct waiter *waiter, fresh = {};

	if (!bpf_map_lookup_elem(&wanted, &pid))
		return;
	if (state & STATE_DEAD) {
		bpf_map_delete_elem(&waiters, &tid);
		bpf_map_delete_elem(&pendings, &tid);
		return;
	}
	waiter = bpf_map_lookup_elem(&waiters, &tid);
	if (waiter && waiter->start_ns == task->start_time) {
		if (waiter->since_ns) /* it has run since, but no switch to it was seen */
			__sync_fetch_and_add(&shared.unended, 1);
		waiter->woken_ns = 0;
		waiter->delay_ns = run_delay_of(task);
		waiter->since_ns = now_ns;
		return;
	}
	fresh.start_ns = task->start_time;
	fresh.since_ns = now_ns;
	fresh.delay_ns = run_delay_of(task);
	fresh.owed_ns = bpf_get_prandom_u32() % config.quantum_ns;
	bpf_map_update_elem(&waiters, &tid, &fresh, BPF_ANY);
}

static __always_inline void take_waker(const struct waiter *waiter, __u32 tid,
				       struct bpf_waker *ret)
{
	const struct wakened *const wakened = bpf_map_lookup_elem(&wakers, &tid);

	if (wakened && wakened->since_ns == waiter->since_ns)
		*ret = wakened->waker;
}

/*
 * A page that could be read neither at once nor after some sleep is where the stack ends.
 */
struct touching {
	__u64 from, end;
};

static long touch_page(__u32 page, struct touching *touching)
{
	const __u64 first = touching->from & ~(__u64)(BPF_PAGE_BYTES - 1);
	const __u64 addr = page ? first + (__u64)page * BPF_PAGE_BYTES : touching->from;
	__u8 byte;

	if (addr >= touching->end)
		return 1;
	if (bpf_copy_from_user(&byte, 1, (const void *)addr) == 0)
		return 0;
	touching->end = addr;
	return 1;
}

/* Brings the stack into memory. Returns how many bytes of it are to be copied. */
static __always_inline __u32 touch_stack(struct task_struct *task, struct bpf_wait_head *head)
{
	const __u64 limit =
		config.stack_bytes <= BPF_MAX_STACK ? config.stack_bytes : BPF_MAX_STACK;
	const __u64 end = stack_end(task, head->sp);
	struct touching touching = {.from = head->sp, .end = head->sp + limit};

	if (end && end < touching.end)
		touching.end = end;
	bpf_loop(BPF_MAX_PAGES, touch_page, &touching, 0);
	if (!end || touching.end < end)
		head->flags |= BPF_WAIT_IS_CUT;
	return touching.end - touching.from;
}

static __always_inline void take_user(struct task_struct *task, struct bpf_wait_head *head)
{
	const void *const from = (const void *)bpf_task_pt_regs(task);
	struct pt_regs regs;

	if (bpf_probe_read_kernel(&regs, sizeof(regs), from) < 0)
		return;
	head->sp = take_regs(head->regs, &regs);
	if (!head->sp)
		return;
	head->flags |= BPF_WAIT_HAS_REGS;
	head->syscall = syscall_of(&regs, from);
	if (config.stack_bytes)
		head->stack_len = touch_stack(task, head);
}

/*
 * Whether the process may write so many bytes: while half of the ring buffer is free anybody may,
 * and of the other half each group has its part.
 */
static __always_inline int may_write(__u32 pid, __u32 bytes)
{
	const __u32 zero = 0;
	const __u64 *const most = bpf_map_lookup_elem(&part, &zero);
	const __u64 *const payer = bpf_map_lookup_elem(&payers, &pid);
	const __u64 group = payer ? *payer : 0, moment = bpf_ktime_get_ns() >> MOMENT_BITS;
	struct spent *spent = bpf_map_lookup_elem(&all_spent, &group);
	const struct spent fresh = {.moment = moment};

	if (!spent) {
		bpf_map_update_elem(&all_spent, &group, &fresh, BPF_NOEXIST);
		spent = bpf_map_lookup_elem(&all_spent, &group);
	}
	if (!most || !*most || !spent)
		return 1;
	if (spent->moment != moment) {
		spent->moment = moment;
		spent->bytes = 0;
	}
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >=
		    bpf_ringbuf_query(&ring, BPF_RB_RING_SIZE) / 2 &&
	    spent->bytes + bytes > *most)
		return 0;
	__sync_fetch_and_add(&spent->bytes, bytes);
	return 1;
}

/* Nothing sleeps from here on. False: the stack could not be read. No room is counted in *lost. */
static __always_inline int write_record(struct bpf_wait_head *head, __u64 *lost)
{
	struct bpf_dynptr to;
	__u32 len = head->stack_len;
	int is_read = 1;

	if (len > BPF_MAX_STACK)
		len = head->stack_len = 0;
	if (!may_write(head->pid, sizeof(*head) + len)) {
		__sync_fetch_and_add(lost, 1);
		return 1;
	}
	if (bpf_ringbuf_reserve_dynptr(&ring, sizeof(*head) + len, 0, &to)) {
		bpf_ringbuf_discard_dynptr(&to, BPF_RB_NO_WAKEUP);
		__sync_fetch_and_add(lost, 1);
		return 1;
	}
	bpf_dynptr_write(&to, 0, head, sizeof(*head), 0);
	if (len > 0)
		is_read = bpf_probe_read_user_dynptr(&to, sizeof(*head), len,
						     (const void *)head->sp) == 0;
	if (is_read)
		bpf_ringbuf_submit_dynptr(&to, BPF_RB_NO_WAKEUP);
	else
		bpf_ringbuf_discard_dynptr(&to, BPF_RB_NO_WAKEUP);
	return is_read;
}

/* Where the thread is in user mode, or will be. */
static __always_inline void user_place(struct task_struct *task, __u64 *sp, __u64 *pc)
{
	struct pt_regs regs;

	*sp = *pc = 0;
	if (bpf_probe_read_kernel(&regs, sizeof(regs), (const void *)bpf_task_pt_regs(task)) == 0)
		take_place(&regs, sp, pc);
}

/*
 * Whether the thread has been in user mode since it was chosen: the kernel was late, and the stack
 * is another one.
 */
static __always_inline int has_gone_on(struct task_struct *task, const struct pending *pending)
{
	__u64 sp, pc;

	user_place(task, &sp, &pc);
	return sp != pending->sp || pc != pending->pc;
}

/* Called in the thread that has waited, on its way back to user mode. */
static int read_wait(struct bpf_map *map, void *key, void *value)
{
	struct task_struct *const task = bpf_get_current_task_btf();
	struct bpf_wait_head *const head = &((struct pending *)value)->head;
	const __u32 tid = task->pid;

	if (task->flags & PF_EXITING || has_gone_on(task, value)) {
		__sync_fetch_and_add(&shared.lost, 1);
		bpf_map_delete_elem(&pendings, &tid);
		return 0;
	}
	bpf_get_current_comm(head->comm, sizeof(head->comm));
	take_user(task, head);
	if (!write_record(head, &shared.lost)) {
		head->stack_len = 0;
		head->flags |= BPF_WAIT_IS_CUT;
		__sync_fetch_and_add(&shared.unread, 1);
		write_record(head, &shared.lost);
	}
	bpf_map_delete_elem(&pendings, &tid);
	return 0;
}

/* Called in the waker, on its way back to user mode. */
static int read_waker(struct bpf_map *map, void *key, void *value)
{
	struct task_struct *const task = bpf_get_current_task_btf();
	struct bpf_wait_head *const head = &((struct pending *)value)->head;
	const __u32 tid = head->waited_tid;
	int is_read = 0;

	if (!(task->flags & PF_EXITING) && !has_gone_on(task, value)) {
		bpf_get_current_comm(head->comm, sizeof(head->comm));
		take_user(task, head);
		is_read = head->stack_len && write_record(head, &shared.wakers_lost);
	}
	if (!is_read)
		__sync_fetch_and_add(&shared.wakers_lost, 1);
	bpf_map_delete_elem(&waker_pendings, &tid);
	return 0;
}

/* Has the wait that ends now read. False: the kernel would not. */
static __always_inline int choose(struct task_struct *task, const struct waiter *waiter,
				  __u64 now_ns, __u64 blocked_ns, __u64 weight_ns)
{
	const __u32 tid = task->pid;
	struct pending *pending = bpf_map_lookup_elem(&pendings, &tid);
	struct bpf_wait_head *head;
	long got;

	if (pending && pending->head.start_ns == waiter->start_ns && !has_gone_on(task, pending)) {
		/* It has not been in user mode since: the stack is the same. */
		pending->head.time_ns = now_ns;
		pending->head.blocked_ns += blocked_ns;
		pending->head.weight_ns += weight_ns;
		pending->head.n_waits++;
		return 1;
	}
	if (pending) /* nobody has read it: the kernel was late */
		__sync_fetch_and_add(&shared.lost, 1);
	bpf_map_update_elem(&pendings, &tid, nothing, BPF_ANY);
	pending = bpf_map_lookup_elem(&pendings, &tid);
	if (!pending)
		return 0;
	head = &pending->head;
	head->time_ns = now_ns;
	head->start_ns = waiter->start_ns;
	head->since_ns = waiter->since_ns;
	head->blocked_ns = blocked_ns;
	head->weight_ns = weight_ns;
	head->n_waits = 1;
	head->pid = task->tgid;
	head->tid = tid;
	user_place(task, &pending->sp, &pending->pc);
	head->syscall = -1;
	take_waker(waiter, tid, &head->waker);
	got = bpf_get_task_stack(task, head->kernel, sizeof(head->kernel), 0);
	head->n_kernel = got > 0 ? (__u64)got / sizeof(head->kernel[0]) : 0;
	if (schedule_resume(task, &pending->work, &pendings, read_wait) == 0)
		return 1;
	bpf_map_delete_elem(&pendings, &tid);
	return 0;
}

/* How long the thread was blocked that gets a CPU now. */
static __always_inline __u64 blocked_of(const struct waiter *waiter, struct task_struct *task,
					__u64 now_ns)
{
	const __u64 since_ns = waiter->since_ns, woken_ns = waiter->woken_ns;
	__u64 delay_ns;

	if (woken_ns)
		return woken_ns - since_ns;
	delay_ns = delay_of(task) - waiter->delay_ns;
	return now_ns - since_ns > delay_ns ? now_ns - since_ns - delay_ns : 0;
}

/* The thread gets a CPU. */
static __always_inline void end_wait(struct task_struct *task, __u64 now_ns)
{
	const __u32 tid = task->pid;
	struct waiter *const waiter = bpf_map_lookup_elem(&waiters, &tid);
	__u64 blocked_ns, weight_ns;

	if (!waiter || !waiter->since_ns || waiter->start_ns != task->start_time)
		return;
	blocked_ns = blocked_of(waiter, task, now_ns);
	count_wait();
	waiter->owed_ns += blocked_ns;
	if (waiter->owed_ns >= config.quantum_ns) {
		weight_ns = waiter->owed_ns - waiter->owed_ns % config.quantum_ns;
		__sync_fetch_and_add(&shared.sampled, 1);
		if (choose(task, waiter, now_ns, blocked_ns, weight_ns))
			waiter->owed_ns -= weight_ns;
		else
			__sync_fetch_and_add(&shared.refused, 1);
	}
	waiter->since_ns = 0;
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	struct task_struct *const prev = (void *)ctx[1], *const next = (void *)ctx[2];
	const int is_preempted = ctx[0] & 1;
	const unsigned int state = ctx[3];
	const __u64 now_ns = bpf_ktime_get_ns();

	if (!is_preempted && state != 0)
		begin_wait(prev, state, now_ns);
	if (next->pid != 0)
		end_wait(next, now_ns);
	return 0;
}

static __always_inline int is_between(__u64 addr, const void *from, const void *end)
{
	return addr >= (__u64)from && addr < (__u64)end;
}

/* What wakes a thread: an interrupt is seen by the function it came in by. */
static __always_inline __u32 waker_kind(void *ctx)
{
	const __u32 zero = 0;
	struct callers *const callers = bpf_map_lookup_elem(&all_callers, &zero);
	__u32 kind = BPF_WAKER_THREAD, n;
	long got;

	if (!callers || !&__irqentry_text_end) /* who may not read addresses of the kernel has 0 */
		return BPF_WAKER_UNKNOWN;
	got = bpf_get_stack(ctx, callers->addrs, sizeof(callers->addrs), 0);
	n = got > 0 ? (__u64)got / sizeof(callers->addrs[0]) : 0;
	for (__u32 i = 0; i < MAX_CALLERS && i < n; i++) {
		const __u64 addr = callers->addrs[i];

		if (is_between(addr, &__irqentry_text_start, &__irqentry_text_end))
			return BPF_WAKER_IRQ;
		if (is_between(addr, &__softirqentry_text_start, &__softirqentry_text_end))
			kind = BPF_WAKER_SOFTIRQ;
		if (is_between(addr, &handle_softirqs, &handle_softirqs + SOFTIRQS_BYTES))
			kind = BPF_WAKER_SOFTIRQ;
	}
	return kind;
}

/* Has the stack read of the thread that ends a wait, if its process is wanted. */
static __always_inline void choose_waker(struct task_struct *waker, const struct waiter *waiter,
					 __u32 waited_tid)
{
	const __u32 pid = waker->tgid;
	struct pending *pending;
	struct bpf_wait_head *head;

	if (!config.stack_bytes || waker->flags & PF_KTHREAD || !bpf_map_lookup_elem(&wanted, &pid))
		return;
	if (bpf_map_lookup_elem(&waker_pendings, &waited_tid))
		__sync_fetch_and_add(&shared.wakers_lost, 1);
	bpf_map_update_elem(&waker_pendings, &waited_tid, nothing, BPF_ANY);
	pending = bpf_map_lookup_elem(&waker_pendings, &waited_tid);
	if (pending) {
		head = &pending->head;
		head->flags = BPF_WAIT_IS_WAKER;
		head->start_ns = waiter->start_ns;
		head->since_ns = waiter->since_ns;
		head->waited_tid = waited_tid;
		head->pid = pid;
		head->tid = waker->pid;
		user_place(waker, &pending->sp, &pending->pc);
		if (schedule_resume(waker, &pending->work, &waker_pendings, read_waker) == 0)
			return;
		bpf_map_delete_elem(&waker_pendings, &waited_tid);
	}
	__sync_fetch_and_add(&shared.wakers_lost, 1);
}

/* Notes who ends a wait, if the wait is going to be chosen. */
SEC("tp_btf/sched_waking")
int on_waking(__u64 *ctx)
{
	struct task_struct *const task = (void *)ctx[0], *waker;
	const __u32 tid = task->pid;
	struct waiter *const waiter = bpf_map_lookup_elem(&waiters, &tid);
	struct wakened wakened = {};

	if (!waiter || !waiter->since_ns)
		return 0;
	waiter->woken_ns = bpf_ktime_get_ns();
	if (waiter->owed_ns + (waiter->woken_ns - waiter->since_ns) < config.quantum_ns)
		return 0;
	waker = bpf_get_current_task_btf();
	wakened.since_ns = waiter->since_ns;
	wakened.waker.kind = waker_kind(ctx);
	wakened.waker.pid = waker->tgid;
	wakened.waker.tid = waker->pid;
	bpf_get_current_comm(wakened.waker.comm, sizeof(wakened.waker.comm));
	bpf_map_update_elem(&wakers, &tid, &wakened, BPF_ANY);
	/* A soft interrupt that no interrupt has begun is in a call of the thread, as in a send. */
	if (wakened.waker.kind == BPF_WAKER_THREAD || wakened.waker.kind == BPF_WAKER_SOFTIRQ)
		choose_waker(waker, waiter, tid);
	return 0;
}
