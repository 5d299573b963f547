// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Takes samples where a thread of a wanted process runs over a probe, see ../bpf_source.h.
 *
 * A program runs when a thread hits the uprobe of a point, and has the thread's registers. The
 * registers hold the point's arguments, see jvmti-agent/probes/points.h.
 *
 * Of many hits in a short time each n-th is sampled, of the process and of all. The gaps between
 * two samples vary by chance around n, and n is found anew ten times a second. To sample by the
 * clock would favour what a program does after each pause. A sample stands for the hits of its gap,
 * so that the sum of all is exact.
 *
 * Threads park often and for long where they have nothing to do. Of parks a sample is taken at the
 * end, and chosen by its length: long ones always.
 *
 * A ring buffer that is half full is crowded: there each container or user has its part, and what
 * is past the part waits in the gap until the reader has been there. So a JVM that fills the ring
 * buffer takes nobody's samples, also where the reader comes late.
 *
 * Other threads may run on the CPU meanwhile and hit a uprobe too: a thread has to claim the CPU's
 * draft. A hit that finds the draft claimed falls into the next sample's gap.
 *
 * One file, because all programs share the rates, the claims and the parts of the ring buffer.
 */
#include "take.h"

char _license[] SEC("license") = "GPL";

/* What a CPU has seen. */
struct gap {
	__u64 left;    /* hits that are not taken */
	__u64 skipped; /* hits for which the next sample stands */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_MAX_PACES);
	__type(key, struct bpf_process_kind);
	__type(value, struct bpf_rate);
} rates SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_PERCPU_HASH);
	__uint(max_entries, BPF_MAX_PACES);
	__type(key, struct bpf_process_kind);
	__type(value, struct gap);
} gaps SEC(".maps");

/* Of all processes. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_rate);
} rate_of_all SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gap);
} gap_of_all SEC(".maps");

/* The thread that uses the CPU's draft, as bpf_get_current_pid_tgid has it; 0: none. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} claims SEC(".maps");

/* PID -> the group whose part of the ring buffer its samples take. Not there: group 0. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_MAX_WANTED);
	__type(key, __u32);
	__type(value, __u64);
} payers SEC(".maps");

/* What a group has written into the crowded ring buffer while the reader has read half of it. */
struct spent {
	__u64 turn, bytes;
};

/* By group. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_MAX_PACES);
	__type(key, __u64);
	__type(value, struct spent);
} all_spent SEC(".maps");

static __always_inline struct bpf_rate *find_rate(const struct bpf_process_kind *key)
{
	const struct bpf_rate none = {0};
	struct bpf_rate *rate = bpf_map_lookup_elem(&rates, key);

	if (rate)
		return rate;
	bpf_map_update_elem(&rates, key, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&rates, key);
}

static __always_inline struct gap *find_gap(const struct bpf_process_kind *key)
{
	const struct gap none = {0};
	struct gap *gap = bpf_map_lookup_elem(&gaps, key);

	if (gap)
		return gap;
	bpf_map_update_elem(&gaps, key, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&gaps, key);
}

/* limit: so many samples are taken in BPF_RATE_NS. */
static __always_inline void note_hit_at(struct bpf_rate *rate, __u64 limit, __u64 now_ns)
{
	const __s64 passed_ns = (__s64)(now_ns - rate->since_ns);

	/* Another CPU may have read the clock later, and found n first. */
	if (passed_ns >= (__s64)BPF_RATE_NS) {
		rate->n = rate->hits / ((__u64)passed_ns / BPF_RATE_NS) / limit + 1;
		rate->hits = rate->taken = 0;
		rate->since_ns = now_ns;
	}
	__sync_fetch_and_add(&rate->hits, 1);
	__sync_fetch_and_add(&rate->all_hits, 1);
}

/* Whether the hit is not taken. */
static __always_inline int is_in_gap(struct gap *gap)
{
	if (gap->left == 0)
		return 0;
	gap->left--;
	return 1;
}

/*
 * The next gap, from none to 2 (n - 1) hits. A burst that began since n was found makes n larger.
 */
static __always_inline void begin_gap(struct bpf_rate *rate, struct gap *gap, __u64 limit)
{
	if (++rate->taken >= limit) {
		rate->taken = 0;
		rate->n = rate->n ? 2 * rate->n : 2;
	}
	gap->left = rate->n > 1 ? bpf_get_prandom_u32() % (2 * rate->n - 1) : 0;
}

/* Whether the hit is sampled. */
static __always_inline int is_chosen(struct bpf_rate *rate, struct gap *gap, __u64 limit,
				     __u64 now_ns)
{
	if (!limit)
		return 1;
	note_hit_at(rate, limit, now_ns);
	if (is_in_gap(gap))
		return 0;
	begin_gap(rate, gap, limit);
	return 1;
}

static __always_inline int is_chosen_of_all(__u64 now_ns)
{
	const __u32 zero = 0;
	struct bpf_rate *const rate = bpf_map_lookup_elem(&rate_of_all, &zero);
	struct gap *const gap = bpf_map_lookup_elem(&gap_of_all, &zero);

	return rate && gap && is_chosen(rate, gap, config.probe_limit, now_ns);
}

static __always_inline struct spent *find_spent(__u64 group)
{
	const struct spent none = {0};
	struct spent *spent = bpf_map_lookup_elem(&all_spent, &group);

	if (spent)
		return spent;
	bpf_map_update_elem(&all_spent, &group, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&all_spent, &group);
}

/*
 * Whether the process has to leave the room in the ring buffer to others. Otherwise a record of its
 * is charged.
 */
static __always_inline int is_past_part(__u32 pid, __u64 bytes)
{
	const __u64 half = bpf_ringbuf_query(&ring, BPF_RB_RING_SIZE) / 2;
	const __u64 *payer;
	struct spent *spent;
	__u64 turn;

	if (!shared.part || !half || bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < half)
		return 0;
	payer = bpf_map_lookup_elem(&payers, &pid);
	spent = find_spent(payer ? *payer : 0);
	if (!spent)
		return 0;
	turn = bpf_ringbuf_query(&ring, BPF_RB_CONS_POS) / half;
	if (spent->turn != turn) {
		spent->turn = turn;
		spent->bytes = 0;
	}
	if (spent->bytes && spent->bytes + bytes > shared.part)
		return 1;
	__sync_fetch_and_add(&spent->bytes, bytes);
	return 0;
}

/* The longest sample there is. */
static __always_inline __u64 longest_bytes(void)
{
	return config.stack_bytes + BPF_LONGEST_REST;
}

/*
 * Where kernels let another thread run meanwhile (Linux 6.0), a claim is made at once by an
 * instruction that they have (5.12); is_old: nobody comes between.
 */
static __always_inline int claim_draft(__u64 *claim, __u64 id, int is_old)
{
	if (!is_old)
		return __sync_val_compare_and_swap(claim, 0, id) == 0;
	if (*claim)
		return 0;
	*claim = id;
	return 1;
}

#if defined(__TARGET_ARCH_x86)
static __always_inline __u64 second_arg(const struct pt_regs *ctx)
{
	return ctx->rsi;
}

static __always_inline __u64 third_arg(const struct pt_regs *ctx)
{
	return ctx->rdx;
}

static __always_inline __u64 fourth_arg(const struct pt_regs *ctx)
{
	return ctx->rcx;
}
#elif defined(__TARGET_ARCH_arm64)
static __always_inline __u64 second_arg(const struct pt_regs *ctx)
{
	return ctx->regs[1];
}

static __always_inline __u64 third_arg(const struct pt_regs *ctx)
{
	return ctx->regs[2];
}

static __always_inline __u64 fourth_arg(const struct pt_regs *ctx)
{
	return ctx->regs[3];
}
#endif

/*
 * Allocations of objects larger than the sampling interval weigh more than others, and so are
 * sampled among themselves.
 */
static __always_inline __u32 group_of(const struct pt_regs *ctx, __u32 kind)
{
	return kind == BPF_KIND_ALLOC && second_arg(ctx) > third_arg(ctx);
}

/* Whether nothing will be known of the object that is allocated, and that is all that is wanted. */
static __always_inline int is_unwatched(const struct pt_regs *ctx, __u32 kind)
{
	if (kind != BPF_KIND_ALLOC || !config.wants_watched || fourth_arg(ctx))
		return 0;
	__sync_fetch_and_add(&shared.unwatched, 1);
	return 1;
}

/* The claim if a sample is to be taken now, else NULL. The caller ends the claim. */
static __always_inline __u64 *begin_hit(struct pt_regs *ctx, __u32 kind, int is_old,
					struct occasion *ret)
{
	const __u64 now_ns = bpf_ktime_get_ns(), id = bpf_get_current_pid_tgid();
	const struct bpf_process_kind key = {
		.pid = id >> 32, .kind = kind, .group = group_of(ctx, kind)};
	const __u32 zero = 0;
	struct bpf_rate *rate;
	struct gap *gap;
	__u64 *claim, n;

	if (!is_wanted(key.pid) || is_unwatched(ctx, kind))
		return 0;
	rate = find_rate(&key);
	gap = find_gap(&key);
	claim = bpf_map_lookup_elem(&claims, &zero);
	if (!rate || !gap || !claim) {
		__sync_fetch_and_add(&shared.lost, 1);
		return 0;
	}
	if (!is_chosen(rate, gap, config.process_probe_limit, now_ns) ||
	    !is_chosen_of_all(now_ns) || is_past_part(key.pid, longest_bytes()) ||
	    !claim_draft(claim, id, is_old)) {
		__sync_fetch_and_add(&gap->skipped, 1);
		__sync_fetch_and_add(&shared.merged, 1);
		return 0;
	}
	n = gap->skipped;
	__sync_fetch_and_add(&gap->skipped, -n);
	*ret = (struct occasion){
		.ctx = ctx,
		.now_ns = now_ns,
		.period = 1,
		.weight = 1 + n,
		.flags = kind << BPF_KIND_SHIFT,
		.is_probe = 1,
		.is_old = is_old,
	};
	return claim;
}

/* A wait for a monitor whose begin was sampled; the number is one that the agent gives. */
struct wait_key {
	__u64 pid, number;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_MAX_WAITS);
	__type(key, struct wait_key);
	__type(value, __u64);
} monitor_waits SEC(".maps");

/* Thread -> when it has parked. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_MAX_WAITS);
	__type(key, __u32);
	__type(value, __u64);
} parks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_MAX_PACES);
	__type(key, __u32);
	__type(value, struct bpf_park_rate);
} park_rates SEC(".maps");

/* The end of a monitor's wait is told if its begin was. */
static __always_inline void note_hit(struct pt_regs *ctx, __u32 kind, const struct occasion *hit)
{
	const struct wait_key key = {.pid = bpf_get_current_pid_tgid() >> 32,
				     .number = second_arg(ctx)};

	if (kind == BPF_KIND_ENTER)
		bpf_map_update_elem(&monitor_waits, &key, &hit->now_ns, BPF_ANY);
}

#define PROBE(point, kind, way, is_old)                                                            \
	SEC("kprobe")                                                                              \
	int point##_##way(struct pt_regs *ctx)                                                     \
	{                                                                                          \
		struct occasion occasion;                                                          \
		__u64 *const claim = begin_hit(ctx, kind, is_old, &occasion);                      \
                                                                                                   \
		if (!claim)                                                                        \
			return 0;                                                                  \
		note_hit(ctx, kind, &occasion);                                                    \
		take_##way(&occasion);                                                             \
		*claim = 0;                                                                        \
		return 0;                                                                          \
	}

#define PROBES(point, kind)                                                                        \
	PROBE(point, kind, exact, 0)                                                               \
	PROBE(point, kind, slices, 0)                                                              \
	PROBE(point, kind, scratch, 1)

static __always_inline int ends_monitor(struct pt_regs *ctx, struct occasion *ret)
{
	const struct wait_key key = {.pid = bpf_get_current_pid_tgid() >> 32,
				     .number = third_arg(ctx)};

	if (!bpf_map_lookup_elem(&monitor_waits, &key))
		return 0;
	bpf_map_delete_elem(&monitor_waits, &key);
	ret->now_ns = bpf_ktime_get_ns();
	ret->flags = BPF_KIND_ENTERED << BPF_KIND_SHIFT;
	return 1;
}

/* A wait whose end finds the draft claimed is told by nobody: that is counted. */
static __always_inline __u64 *claim_end(int is_old)
{
	const __u64 id = bpf_get_current_pid_tgid();
	const __u32 zero = 0;
	__u64 *const claim = bpf_map_lookup_elem(&claims, &zero);

	if (claim && claim_draft(claim, id, is_old))
		return claim;
	__sync_fetch_and_add(&shared.lost, 1);
	return 0;
}

static __always_inline void end_monitor(struct pt_regs *ctx, int is_old)
{
	struct occasion occasion = {.ctx = ctx, .weight = 1};
	__u64 *claim;

	if (!ends_monitor(ctx, &occasion))
		return;
	claim = claim_end(is_old);
	if (!claim)
		return;
	take_head(&occasion);
	*claim = 0;
}

static __always_inline void begin_park(void)
{
	const __u64 id = bpf_get_current_pid_tgid(), now_ns = bpf_ktime_get_ns();
	const __u32 tid = (__u32)id;

	if (is_wanted(id >> 32))
		bpf_map_update_elem(&parks, &tid, &now_ns, BPF_ANY);
}

/* Of all processes. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_park_rate);
} park_rate_of_all SEC(".maps");

static __always_inline struct bpf_park_rate *find_park_rate(__u32 pid)
{
	const struct bpf_park_rate none = {0};
	struct bpf_park_rate *rate = bpf_map_lookup_elem(&park_rates, &pid);

	if (rate)
		return rate;
	bpf_map_update_elem(&park_rates, &pid, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&park_rates, &pid);
}

static __always_inline void raise(struct bpf_park_rate *rate)
{
	rate->threshold_ns = rate->threshold_ns ? 2 * rate->threshold_ns : BPF_LEAST_PARK;
	rate->taken = 0;
}

/* Seeks the threshold at which as many samples are taken as may be. */
static __always_inline void adapt(struct bpf_park_rate *rate, __u64 limit, __u64 now_ns)
{
	if ((__s64)(now_ns - rate->since_ns) >= (__s64)BPF_RATE_NS) {
		if (rate->taken < limit / 4 && rate->threshold_ns)
			rate->threshold_ns =
				rate->threshold_ns > BPF_LEAST_PARK ? rate->threshold_ns / 2 : 0;
		rate->taken = 0;
		rate->since_ns = now_ns;
	}
	if (rate->taken >= limit)
		raise(rate);
}

/* Whether the park is told: it is longer than the threshold of its process and that of all. */
static __always_inline int is_long_enough(struct bpf_park_rate *rate, __u64 ns, __u64 now_ns,
					  __u64 *ret_threshold)
{
	const __u64 limit = config.process_probe_limit, limit_of_all = config.probe_limit;
	const __u32 zero = 0;
	struct bpf_park_rate *const all = bpf_map_lookup_elem(&park_rate_of_all, &zero);
	__u64 threshold_ns, least;

	if (!all)
		return 0;
	if (limit)
		adapt(rate, limit, now_ns);
	if (limit_of_all)
		adapt(all, limit_of_all, now_ns);
	threshold_ns =
		rate->threshold_ns > all->threshold_ns ? rate->threshold_ns : all->threshold_ns;
	*ret_threshold = threshold_ns;
	least = (__u64)bpf_get_prandom_u32() * (threshold_ns >> 8) >> 24;
	if (ns < threshold_ns && ns < least)
		return 0;
	rate->taken++;
	all->taken++;
	return 1;
}

/* The claim if the thread's park is told, else NULL. The caller ends the claim. */
static __always_inline __u64 *end_park(struct pt_regs *ctx, int is_old, struct occasion *ret)
{
	const __u64 id = bpf_get_current_pid_tgid(), now_ns = bpf_ktime_get_ns();
	const __u32 tid = (__u32)id;
	const __u64 *const began_ns = bpf_map_lookup_elem(&parks, &tid);
	struct bpf_park_rate *rate;
	__u64 ns, threshold_ns;

	if (!began_ns)
		return 0;
	ns = now_ns - *began_ns;
	bpf_map_delete_elem(&parks, &tid);
	rate = find_park_rate(id >> 32);
	if (!rate) {
		__sync_fetch_and_add(&shared.lost, 1);
		return 0;
	}
	__sync_fetch_and_add(&rate->all_hits, 1);
	if (!is_long_enough(rate, ns, now_ns, &threshold_ns)) {
		__sync_fetch_and_add(&shared.merged, 1);
		return 0;
	}
	if (is_past_part(id >> 32, longest_bytes())) { /* no later sample stands for a park */
		raise(rate);
		__sync_fetch_and_add(&shared.lost, 1);
		return 0;
	}
	*ret = (struct occasion){
		.ctx = ctx,
		.now_ns = now_ns,
		.period = ns,
		.wait = threshold_ns,
		.weight = 1,
		.flags = BPF_KIND_PARK_END << BPF_KIND_SHIFT,
		.is_probe = 1,
		.is_old = is_old,
	};
	return claim_end(is_old);
}

/*
 * Whether the process has told of so few deaths that this is told too.
 */
static __always_inline int may_tell_death(__u32 pid, __u64 now_ns)
{
	const struct bpf_process_kind key = {.pid = pid, .kind = BPF_KIND_DEAD};
	struct bpf_rate *const rate = find_rate(&key);

	if (!rate)
		return 0;
	if ((__s64)(now_ns - rate->since_ns) >= 1000000000) {
		rate->since_ns = now_ns;
		rate->taken = 0;
	}
	return rate->taken++ < BPF_MAX_DEATHS;
}

/* Needs no draft, and so is never lost to another thread of the CPU. */
static __always_inline void tell_dead(struct pt_regs *ctx)
{
	const __u64 id = bpf_get_current_pid_tgid(), now_ns = bpf_ktime_get_ns();
	struct bpf_sample_head *head = 0;

	if (!is_wanted(id >> 32))
		return;
	if (may_tell_death(id >> 32, now_ns) && !is_past_part(id >> 32, sizeof(*head)))
		head = bpf_ringbuf_reserve(&ring, sizeof(*head), 0);
	if (!head) {
		__sync_fetch_and_add(&shared.deaths_lost, 1);
		return;
	}
	__builtin_memset(head, 0, sizeof(*head));
	head->time_ns = now_ns;
	head->pid = id >> 32;
	head->tid = (__u32)id;
	head->weight = 1;
	head->flags = BPF_KIND_DEAD << BPF_KIND_SHIFT | BPF_HAS_REGS;
	head->sp = take_regs(head->regs, ctx);
	bpf_ringbuf_submit(head, BPF_RB_NO_WAKEUP);
	__sync_fetch_and_add(&shared.taken, 1);
}

#define WAITS(way, is_old)                                                                         \
	SEC("kprobe")                                                                              \
	int entered_##way(struct pt_regs *ctx)                                                     \
	{                                                                                          \
		end_monitor(ctx, is_old);                                                          \
		return 0;                                                                          \
	}                                                                                          \
                                                                                                   \
	SEC("kprobe")                                                                              \
	int dead_##way(struct pt_regs *ctx)                                                        \
	{                                                                                          \
		tell_dead(ctx);                                                                    \
		return 0;                                                                          \
	}                                                                                          \
                                                                                                   \
	SEC("kprobe")                                                                              \
	int park_##way(struct pt_regs *ctx)                                                        \
	{                                                                                          \
		begin_park();                                                                      \
		return 0;                                                                          \
	}                                                                                          \
                                                                                                   \
	SEC("kprobe")                                                                              \
	int unpark_##way(struct pt_regs *ctx)                                                      \
	{                                                                                          \
		struct occasion occasion;                                                          \
		__u64 *const claim = end_park(ctx, is_old, &occasion);                             \
                                                                                                   \
		if (!claim)                                                                        \
			return 0;                                                                  \
		take_##way(&occasion);                                                             \
		*claim = 0;                                                                        \
		return 0;                                                                          \
	}

PROBES(alloc, BPF_KIND_ALLOC)
PROBES(enter, BPF_KIND_ENTER)
PROBES(exception, BPF_KIND_EXCEPTION)
WAITS(exact, 0)
WAITS(slices, 0)
WAITS(scratch, 1)
