// SPDX-License-Identifier: Apache-2.0
/*
 * Records of the BPF programs of waits. A record is decoded exactly if its lengths fit its bytes,
 * and what is broken leaves the reading as it was. A stack lies in the record, and ends with it
 * at the latest. Names of threads are terminated.
 */
#include "fuzzer.h"

#include "sample/sample_regs.h"
#include "sample/bpf_waits_layout.h"
#include "wall/bpf_waits_parse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define UNTOUCHED_PID 4711

static volatile uint64_t sink;

static void check(bool is_so)
{
	if (!is_so)
		abort();
}

/* Whether the lengths fit, by sums that cannot overflow. */
static bool is_whole(const uint8_t *data, size_t size)
{
	struct bpf_wait_head head;

	if (size < sizeof(head))
		return false;
	memcpy(&head, data, sizeof(head));
	return head.n_kernel <= BPF_WAIT_MAX_KERNEL &&
	       (uint64_t)sizeof(head) + head.stack_len <= (uint64_t)size;
}

static void check_numbers(const struct wait_reading *wait, const struct bpf_wait_head *head)
{
	check(wait->time_ns == head->time_ns && wait->start_ns == head->start_ns);
	check(wait->blocked_ns == head->blocked_ns && wait->weight_ns == head->weight_ns);
	check(wait->pid == (pid_t)head->pid && wait->tid == (pid_t)head->tid);
	check(wait->n_waits == head->n_waits);
	check(wait->comm[sizeof(wait->comm) - 1] == '\0');
	check(memcmp(wait->comm, head->comm, sizeof(wait->comm) - 1) == 0);
	check(wait->is_cut == ((head->flags & BPF_WAIT_IS_CUT) != 0));
	check(head->syscall < 0 ? wait->syscall == -1 : wait->syscall == head->syscall);
}

static void check_stacks(const struct wait_reading *wait, const struct bpf_wait_head *head,
			 const uint8_t *data)
{
	const bool has_regs = head->flags & BPF_WAIT_HAS_REGS;

	check(!wait->kernel.addrs == (head->n_kernel == 0) && wait->kernel.len == head->n_kernel);
	for (uint32_t i = 0; i < wait->kernel.len; i++)
		check(wait->kernel.addrs[i] == head->kernel[i]);
	check(!wait->regs == !has_regs);
	check(!has_regs ||
	      memcmp(wait->regs, head->regs, SAMPLE_REGS_COUNT * sizeof(head->regs[0])) == 0);
	check(wait->stack_len == (has_regs ? head->stack_len : 0));
	check(!wait->stack == (wait->stack_len == 0));
	check(!wait->stack || wait->stack == data + sizeof(*head));
	for (uint32_t i = 0; i < wait->stack_len; i++)
		sink += wait->stack[i];
}

static void check_waker(const struct sample_waker *waker, const struct bpf_waker *bytes)
{
	const bool is_known = bytes->kind == BPF_WAKER_THREAD || bytes->kind == BPF_WAKER_SOFTIRQ ||
			      bytes->kind == BPF_WAKER_IRQ;

	check((waker->kind != WAKER_UNKNOWN) == is_known);
	check(waker->pid == (is_known ? (pid_t)bytes->pid : 0));
	check(waker->tid == (is_known ? (pid_t)bytes->tid : 0));
	check(strlen(waker->comm) <= (is_known ? BPF_WAIT_COMM_BYTES : 0));
	check(strncmp(waker->comm, is_known ? bytes->comm : "", BPF_WAIT_COMM_BYTES) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wait_reading wait = {.pid = UNTOUCHED_PID};
	uint8_t *const aligned = malloc(size ? size : 1); /* so that reading beyond it is seen */
	struct bpf_wait_head head;

	if (!aligned)
		abort();
	memcpy(aligned, data, size);
	if (bpf_waits_parse(aligned, size, &wait) < 0) {
		check(!is_whole(aligned, size) && wait.pid == UNTOUCHED_PID);
	} else {
		check(is_whole(aligned, size));
		memcpy(&head, aligned, sizeof(head));
		check_numbers(&wait, &head);
		check_stacks(&wait, &head, aligned);
		check_waker(&wait.waker, &head.waker);
	}
	free(aligned);
	return 0;
}
