// SPDX-License-Identifier: Apache-2.0
/* Decodes a record of a thread; bpf_threads_layout.h describes its bytes. */
#include "wall/bpf_threads_parse.h"

#include "sample/bpf_threads_layout.h"
#include "sample/sample_regs.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static_assert(SAMPLE_REGS_COUNT <= BPF_MAX_REGS, "a record has room for the registers");
static_assert(sizeof(struct bpf_thread_head) % 8 == 0, "the stack's struct follows the head");
static_assert(sizeof(((struct bpf_thread_head *)0)->comm) == SAMPLE_COMM_BYTES,
	      "the kernel's name of a thread");

/*
 * A thread that has blocked may stay on its CPU's queue for a while, so the queue does not tell.
 */
static enum thread_state state_of(const struct bpf_thread_head *head)
{
	if (head->flags & BPF_THREAD_ON_CPU)
		return THREAD_RUNNING;
	return head->state == 0 ? THREAD_RUNNABLE : THREAD_BLOCKED;
}

static int take_stack(const struct bpf_thread_head *head, size_t len, struct thread_reading *ret)
{
	const struct bpf_thread_stack *const stack = (const void *)(head + 1);

	if (len < sizeof(*stack) || stack->n_kernel > BPF_THREAD_MAX_KERNEL ||
	    head->stack_len > len - sizeof(*stack))
		return -EBADMSG;
	ret->syscall = stack->syscall;
	ret->regs = (const uint64_t *)stack->regs;
	ret->kernel = (struct sample_chain){
		stack->n_kernel ? (const uint64_t *)stack->kernel : NULL, stack->n_kernel};
	ret->stack = head->stack_len ? (const uint8_t *)(stack + 1) : NULL;
	ret->stack_len = head->stack_len;
	return 0;
}

int bpf_threads_parse(const void *data, size_t len, struct thread_reading *ret)
{
	const struct bpf_thread_head *const head = data;
	struct thread_reading reading;

	if (len < sizeof(*head))
		return -EBADMSG;
	reading = (struct thread_reading){
		.time_ns = head->time_ns,
		.start_ns = head->start_ns,
		.run_ns = head->run_ns,
		.delay_ns = head->delay_ns,
		.switches = head->switches,
		.voluntary = head->voluntary,
		.pid = (pid_t)head->pid,
		.tid = (pid_t)head->tid,
		.state = state_of(head),
		.has_stack = head->flags & BPF_THREAD_HAS_STACK,
		.is_changed = head->flags & BPF_THREAD_CHANGED,
		.is_cut = head->flags & BPF_THREAD_IS_CUT,
		.syscall = -1,
	};
	memcpy(reading.comm, head->comm, sizeof(reading.comm) - 1);
	if (reading.has_stack && take_stack(head, len - sizeof(*head), &reading) < 0)
		return -EBADMSG;
	*ret = reading;
	return 0;
}
