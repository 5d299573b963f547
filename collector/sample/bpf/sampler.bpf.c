// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Takes samples in the kernel, see ../bpf_source.h and ../bpf_layout.h for what comes out.
 *
 * A program runs in the interrupt of the event of a CPU. A sample of a process that is not wanted
 * ends with a look into a hash. Of the three programs one is loaded, see take.h.
 */
#include "take.h"

char _license[] SEC("license") = "GPL";

struct pace {
	__u64 next_ns; /* no sample is taken before */
	__u64 skipped; /* samples for which the next one stands */
};

/* PID -> when it began its program. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64);
} young SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pace);
} paces SEC(".maps");

/* Whether the process is wanted, or has just begun its program. */
static __always_inline int may_be_wanted(__u32 pid, __u64 now_ns)
{
	const __u64 *began_ns;

	if (is_wanted(pid))
		return 1;
	began_ns = pid ? bpf_map_lookup_elem(&young, &pid) : 0;
	return began_ns && now_ns - *began_ns < BPF_YOUNG_NS;
}

#if defined(__TARGET_ARCH_x86)
static __always_inline int is_user_mode(const struct bpf_perf_event_data *ctx)
{
	return ctx->regs.cs & 3;
}
#elif defined(__TARGET_ARCH_arm64)
static __always_inline int is_user_mode(const struct bpf_perf_event_data *ctx)
{
	return (ctx->regs.pstate & 0xf) == 0;
}
#endif

/*
 * Whether a sample is taken now. So many samples a second and CPU are taken at most; those between
 * are counted, and the next one stands for them.
 */
static __always_inline int begin_sample(struct bpf_perf_event_data *ctx, int is_old,
					struct occasion *ret)
{
	const __u64 now_ns = bpf_ktime_get_ns();
	const __u32 zero = 0;
	struct pace *pace;

	if (!may_be_wanted(bpf_get_current_pid_tgid() >> 32, now_ns))
		return 0;
	pace = bpf_map_lookup_elem(&paces, &zero);
	if (!pace)
		return 0;
	if (!is_due(&pace->next_ns, config.interval_ns, now_ns)) {
		pace->skipped++;
		__sync_fetch_and_add(&shared.merged, 1);
		return 0;
	}
	*ret = (struct occasion){
		.ctx = ctx,
		.now_ns = now_ns,
		.period = ctx->sample_period,
		.weight = 1 + pace->skipped,
		.is_in_kernel = !is_user_mode(ctx),
		.is_old = is_old,
	};
	pace->skipped = 0;
	return 1;
}

SEC("perf_event")
int sample_exact(struct bpf_perf_event_data *ctx)
{
	struct occasion occasion;

	if (begin_sample(ctx, 0, &occasion))
		take_exact(&occasion);
	return 0;
}

SEC("perf_event")
int sample_slices(struct bpf_perf_event_data *ctx)
{
	struct occasion occasion;

	if (begin_sample(ctx, 0, &occasion))
		take_slices(&occasion);
	return 0;
}

SEC("perf_event")
int sample_scratch(struct bpf_perf_event_data *ctx)
{
	struct occasion occasion;

	if (begin_sample(ctx, 1, &occasion))
		take_scratch(&occasion);
	return 0;
}

/* A process that has begun a program may become one whose samples are wanted. */
SEC("raw_tp/sched_process_exec")
int note_exec(void *ctx)
{
	const __u32 pid = bpf_get_current_pid_tgid() >> 32;
	const __u64 now_ns = bpf_ktime_get_ns();

	bpf_map_update_elem(&young, &pid, &now_ns, BPF_ANY);
	return 0;
}
