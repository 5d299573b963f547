// SPDX-License-Identifier: Apache-2.0
/* Decodes a record of the BPF program; bpf_layout.h describes its bytes. */
#include "sample/bpf_parse.h"

#include "sample/bpf_layout.h"
#include "sample/sample_regs.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static_assert(SAMPLE_REGS_COUNT <= BPF_MAX_REGS, "a head has room for the registers");
static_assert(sizeof(((struct bpf_sample_head *)0)->comm) == sizeof(((struct sample *)0)->comm),
	      "a sample has room for the name");
static_assert(sizeof(struct bpf_sample_head) % 8 == 0, "chains follow the head");

/* The copy of the stack may begin below the stack pointer. */
static int take_stack(const struct bpf_sample_head *head, const unsigned char *data, size_t len,
		      struct sample *ret)
{
	const uint64_t below = head->sp - head->stack_addr;

	if (head->stack_len == 0)
		return 0;
	if (head->stack_off > len || head->stack_len > len - head->stack_off ||
	    below >= BPF_PAGE_BYTES)
		return -EBADMSG;
	if (below >= head->stack_len)
		return 0;
	ret->stack = data + head->stack_off + below;
	ret->stack_len = head->stack_len - (uint32_t)below;
	ret->unread_pages = head->missing;
	return 0;
}

#if defined(__x86_64__)
#define ARG_1 PERF_REG_X86_DI
#define ARG_2 PERF_REG_X86_SI
#define ARG_3 PERF_REG_X86_DX
#define ARG_4 PERF_REG_X86_CX
#define ARG_5 PERF_REG_X86_R8
#define ARG_6 PERF_REG_X86_R9
#elif defined(__aarch64__)
#define ARG_1 PERF_REG_ARM64_X0
#define ARG_2 PERF_REG_ARM64_X1
#define ARG_3 PERF_REG_ARM64_X2
#define ARG_4 PERF_REG_ARM64_X3
#define ARG_5 PERF_REG_ARM64_X4
#define ARG_6 PERF_REG_ARM64_X5
#endif

static const unsigned object_args[SAMPLE_OBJECTS] = {ARG_2, ARG_3, ARG_4, ARG_5, ARG_6};

/* What the sample is of, and what its probe has told. */
static int take_kind(const struct bpf_sample_head *head, struct sample *ret)
{
	const uint64_t *const regs = ret->regs;
	const uint32_t kind = head->flags >> BPF_KIND_SHIFT;
	struct sample_probe *const probe = &ret->probe;

	if (kind == BPF_KIND_CPU)
		return 0;
	if (!regs)
		return -EBADMSG;
	ret->is_exact = true;
	switch (kind) {
	case BPF_KIND_ALLOC:
		ret->kind = SAMPLE_OF_ALLOC;
		probe->text = sample_regs_get(regs, ARG_1);
		probe->amount = sample_regs_get(regs, ARG_2);
		probe->interval = sample_regs_get(regs, ARG_3);
		probe->objects[0] = sample_regs_get(regs, ARG_4);
		probe->round = sample_regs_get(regs, ARG_5);
		return 0;
	case BPF_KIND_DEAD:
		ret->kind = SAMPLE_OF_DEAD;
		probe->round = sample_regs_get(regs, ARG_1);
		for (size_t i = 0; i < SAMPLE_OBJECTS; i++)
			probe->objects[i] = sample_regs_get(regs, object_args[i]);
		return 0;
	case BPF_KIND_ENTER:
		ret->kind = SAMPLE_OF_ENTER;
		probe->text = sample_regs_get(regs, ARG_1);
		probe->wait = sample_regs_get(regs, ARG_2);
		return 0;
	case BPF_KIND_ENTERED:
		ret->kind = SAMPLE_OF_ENTERED;
		probe->amount = sample_regs_get(regs, ARG_2);
		probe->wait = sample_regs_get(regs, ARG_3);
		return 0;
	case BPF_KIND_PARK_END:
		ret->kind = SAMPLE_OF_PARK;
		probe->amount = head->period;
		probe->interval = head->wait;
		return 0;
	case BPF_KIND_EXCEPTION:
		ret->kind = SAMPLE_OF_EXCEPTION;
		return 0;
	default:
		return -EBADMSG;
	}
}

int bpf_parse(const void *data, size_t len, struct record *ret)
{
	const struct bpf_sample_head *const head = data;
	const uint64_t *const chains = (const uint64_t *)(const void *)(head + 1);
	struct record record;

	if (len < sizeof(*head) || head->n_kernel > BPF_MAX_CHAIN || head->n_user > BPF_MAX_CHAIN ||
	    len - sizeof(*head) < (head->n_kernel + head->n_user) * sizeof(*chains))
		return -EBADMSG;
	record = (struct record){
		.kind = RECORD_SAMPLE,
		.time_ns = head->time_ns,
		.pid = (pid_t)head->pid,
		.tid = (pid_t)head->tid,
		.cpu = head->cpu,
		.sample = {.period = head->period,
			   .weight = head->weight,
			   .kernel = {head->n_kernel ? chains : NULL, head->n_kernel},
			   .user = {head->n_user ? chains + head->n_kernel : NULL, head->n_user}},
	};
	memcpy(record.sample.comm, head->comm, sizeof(record.sample.comm) - 1);
	if (head->flags & BPF_HAS_REGS) {
		record.sample.regs = (const uint64_t *)head->regs;
		if (take_stack(head, data, len, &record.sample) < 0)
			return -EBADMSG;
	}
	if (take_kind(head, &record.sample) < 0)
		return -EBADMSG;
	*ret = record;
	return 0;
}
