// SPDX-License-Identifier: Apache-2.0
/* Decodes a record of the BPF program; bpf_layout.h describes its bytes. */
#include "sample/bpf_parse.h"

#include "sample/bpf_layout.h"
#include "sample/sample_regs.h"

#include <assert.h>
#include <errno.h>

static_assert(SAMPLE_REGS_COUNT <= BPF_MAX_REGS, "a head has room for the registers");
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
	if (head->flags & BPF_HAS_REGS) {
		record.sample.regs = (const uint64_t *)head->regs;
		if (take_stack(head, data, len, &record.sample) < 0)
			return -EBADMSG;
	}
	*ret = record;
	return 0;
}
