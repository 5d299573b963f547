// SPDX-License-Identifier: Apache-2.0
/* Decodes a record of a wait; bpf_waits_layout.h describes its bytes. */
#include "wall/bpf_waits_parse.h"

#include "sample/sample_regs.h"
#include "sample/bpf_waits_layout.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static_assert(SAMPLE_REGS_COUNT <= BPF_MAX_REGS, "a record has room for the registers");
static_assert(sizeof(struct bpf_wait_head) % 8 == 0, "the stack follows the head");
static_assert(BPF_WAIT_COMM_BYTES == SAMPLE_COMM_BYTES, "the kernel's name of a thread");

static void take_waker(const struct bpf_waker *waker, struct sample_waker *ret)
{
	static const enum waker_kind kinds[] = {
		[BPF_WAKER_UNKNOWN] = WAKER_UNKNOWN,
		[BPF_WAKER_THREAD] = WAKER_THREAD,
		[BPF_WAKER_SOFTIRQ] = WAKER_SOFTIRQ,
		[BPF_WAKER_IRQ] = WAKER_IRQ,
	};

	if (waker->kind < sizeof(kinds) / sizeof(kinds[0]))
		ret->kind = kinds[waker->kind];
	if (ret->kind == WAKER_UNKNOWN)
		return;
	ret->pid = (pid_t)waker->pid;
	ret->tid = (pid_t)waker->tid;
	static_assert(sizeof(ret->comm) > BPF_WAIT_COMM_BYTES, "the name is terminated");
	memcpy(ret->comm, waker->comm, BPF_WAIT_COMM_BYTES);
}

int bpf_waits_parse(const void *data, size_t len, struct wait_reading *ret)
{
	const struct bpf_wait_head *const head = data;
	bool has_stack;

	if (len < sizeof(*head) || head->n_kernel > BPF_WAIT_MAX_KERNEL ||
	    head->stack_len > len - sizeof(*head))
		return -EBADMSG;
	has_stack = head->flags & BPF_WAIT_HAS_REGS && head->stack_len > 0;
	*ret = (struct wait_reading){
		.is_waker = head->flags & BPF_WAIT_IS_WAKER,
		.waited_tid = (pid_t)head->waited_tid,
		.since_ns = head->since_ns,
		.time_ns = head->time_ns,
		.start_ns = head->start_ns,
		.blocked_ns = head->blocked_ns,
		.weight_ns = head->weight_ns,
		.n_waits = head->n_waits,
		.pid = (pid_t)head->pid,
		.tid = (pid_t)head->tid,
		.is_cut = head->flags & BPF_WAIT_IS_CUT,
		.syscall = head->syscall < 0 ? -1 : head->syscall,
		.regs = head->flags & BPF_WAIT_HAS_REGS ? (const uint64_t *)head->regs : NULL,
		.kernel = {head->n_kernel ? (const uint64_t *)head->kernel : NULL, head->n_kernel},
		.stack = has_stack ? (const uint8_t *)(head + 1) : NULL,
		.stack_len = has_stack ? head->stack_len : 0,
	};
	memcpy(ret->comm, head->comm, sizeof(ret->comm) - 1);
	take_waker(&head->waker, &ret->waker);
	return 0;
}
