// SPDX-License-Identifier: Apache-2.0
/*
 * Records of the BPF program of threads. A record is decoded exactly if its lengths fit its bytes,
 * and what is broken leaves the reading as it was. A stack lies in the record, and ends with it
 * at the latest. What was decoded is written again, and is the record's bytes.
 */
#include "fuzzer.h"

#include "sample/bpf_threads_layout.h"
#include "wall/bpf_threads_parse.h"
#include "sample/sample_regs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STACK_OFF     sizeof(struct bpf_thread_head)
#define COPY_OFF      (STACK_OFF + sizeof(struct bpf_thread_stack))
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
	struct bpf_thread_stack stack;
	struct bpf_thread_head head;

	if (size < STACK_OFF)
		return false;
	memcpy(&head, data, sizeof(head));
	if (!(head.flags & BPF_THREAD_HAS_STACK))
		return true;
	if (size < COPY_OFF)
		return false;
	memcpy(&stack, data + STACK_OFF, sizeof(stack));
	return stack.n_kernel <= BPF_THREAD_MAX_KERNEL &&
	       (uint64_t)COPY_OFF + head.stack_len <= (uint64_t)size;
}

/* The flags that are told by the reading. */
#define TOLD (BPF_THREAD_ON_CPU | BPF_THREAD_HAS_STACK | BPF_THREAD_IS_CUT | BPF_THREAD_CHANGED)

static uint32_t flags_of(const struct thread_reading *reading)
{
	return (reading->state == THREAD_RUNNING ? BPF_THREAD_ON_CPU : 0) |
	       (reading->has_stack ? BPF_THREAD_HAS_STACK : 0) |
	       (reading->is_cut ? BPF_THREAD_IS_CUT : 0) |
	       (reading->is_changed ? BPF_THREAD_CHANGED : 0);
}

static void check_head(const struct thread_reading *reading, const uint8_t *data)
{
	struct bpf_thread_head head, again;

	memcpy(&head, data, sizeof(head));
	again = (struct bpf_thread_head){
		.time_ns = reading->time_ns,
		.start_ns = reading->start_ns,
		.run_ns = reading->run_ns,
		.delay_ns = reading->delay_ns,
		.switches = reading->switches,
		.voluntary = reading->voluntary,
		.pid = (uint32_t)reading->pid,
		.tid = (uint32_t)reading->tid,
		.flags = flags_of(reading) | (head.flags & ~TOLD),
		.state = head.state,
		.stack_len = reading->has_stack ? reading->stack_len : head.stack_len,
		.unused = head.unused,
	};
	check(reading->comm[sizeof(reading->comm) - 1] == '\0');
	memcpy(again.comm, reading->comm, sizeof(again.comm) - 1);
	again.comm[sizeof(again.comm) - 1] = head.comm[sizeof(head.comm) - 1];
	check(memcmp(&head, &again, sizeof(head)) == 0);
	if (reading->state != THREAD_RUNNING)
		check((reading->state == THREAD_RUNNABLE) == (head.state == 0));
}

static void check_stack(const struct thread_reading *reading, const uint8_t *data)
{
	struct bpf_thread_stack stack;

	memcpy(&stack, data + STACK_OFF, sizeof(stack));
	check(reading->syscall == stack.syscall && reading->kernel.len == stack.n_kernel);
	check(memcmp(reading->regs, stack.regs, SAMPLE_REGS_COUNT * sizeof(stack.regs[0])) == 0);
	check(!reading->kernel.addrs == (stack.n_kernel == 0));
	for (uint32_t i = 0; i < reading->kernel.len; i++)
		check(reading->kernel.addrs[i] == stack.kernel[i]);
	check(!reading->stack == (reading->stack_len == 0));
	check(!reading->stack || reading->stack == data + COPY_OFF);
	for (uint32_t i = 0; i < reading->stack_len; i++)
		sink += reading->stack[i];
}

static void check_no_stack(const struct thread_reading *reading)
{
	check(reading->syscall == -1 && !reading->regs && !reading->stack &&
	      reading->stack_len == 0 && reading->kernel.len == 0 && !reading->kernel.addrs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct thread_reading reading = {.pid = UNTOUCHED_PID};
	uint8_t *const aligned = malloc(size ? size : 1); /* so that reading beyond it is seen */

	if (!aligned)
		abort();
	memcpy(aligned, data, size);
	if (bpf_threads_parse(aligned, size, &reading) < 0) {
		check(!is_whole(aligned, size) && reading.pid == UNTOUCHED_PID);
	} else {
		check(is_whole(aligned, size));
		check_head(&reading, aligned);
		if (reading.has_stack)
			check_stack(&reading, aligned);
		else
			check_no_stack(&reading);
	}
	free(aligned);
	return 0;
}
