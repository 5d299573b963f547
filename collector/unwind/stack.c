// SPDX-License-Identifier: Apache-2.0
/* Makes stacks of addresses, see stack.h. */
#include "unwind/stack.h"

/* The default of kernel.perf_event_max_stack. A chain of this length was cut. */
#define CHAIN_LIMIT 127

/* Frames in a row that the kernel's walk may have made up. */
#define CHAIN_INVENTED 2

uint64_t stack_probe(const struct stack_entry *entry)
{
	const uint64_t back = entry->is_return ? 1 : entry->back;

	return entry->addr >= back ? entry->addr - back : entry->addr;
}

/* False: the stack has no room for more. Returns in *n how many frames were added. */
static bool add_chain(const struct sample_chain *chain, bool is_kernel, struct stack *ret,
		      uint32_t *n)
{
	bool is_first = true;

	for (uint32_t i = 0; i < chain->len; i++) {
		if (chain->addrs[i] == 0)
			continue;
		if (ret->depth == STACK_MAX)
			return false;
		ret->entries[ret->depth++] = (struct stack_entry){
			.addr = chain->addrs[i], .is_kernel = is_kernel, .is_return = !is_first};
		is_first = false;
		++*n;
	}
	return true;
}

void stack_from_chain(const struct sample *sample, struct stack *ret)
{
	uint32_t in_chain = 0;

	ret->depth = 0;
	ret->end = STACK_BY_FP;
	ret->end_addr = 0;
	ret->is_in_heap = ret->has_gap = ret->has_missed = false;
	ret->missed_code = 0;
	if (!add_chain(&sample->kernel, true, ret, &in_chain) ||
	    !add_chain(&sample->user, false, ret, &in_chain) || in_chain >= CHAIN_LIMIT)
		ret->end = STACK_FRAME_LIMIT;
}

uint32_t stack_count_kernel(const struct stack *stack)
{
	uint32_t n = 0;

	while (n < stack->depth && stack->entries[n].is_kernel)
		n++;
	return n;
}

void stack_keep_chain(const struct stack *stack, uint32_t n_kernel, struct stack_chain *ret)
{
	ret->n = 0;
	ret->is_cut = stack->end == STACK_FRAME_LIMIT;
	for (uint32_t i = n_kernel; i < stack->depth && ret->n < STACK_CHAIN_MAX; i++)
		ret->entries[ret->n++] = stack->entries[i];
}

/*
 * The search begins at the leaf. Recursion has many frames of one address, and a search from the
 * root could not tell them apart.
 */
struct stack_agreement stack_find_agreement(const struct stack *stack, uint32_t n_kernel,
					    const struct stack_chain *chain)
{
	struct stack_agreement last = {.ours = n_kernel};

	for (uint32_t i = n_kernel + 1; i < stack->depth; i++) {
		for (uint32_t j = last.theirs + 1;
		     j < chain->n && j <= last.theirs + 1 + CHAIN_INVENTED; j++) {
			if (chain->entries[j].addr != stack->entries[i].addr)
				continue;
			last = (struct stack_agreement){.ours = i, .theirs = j};
			break;
		}
	}
	return last;
}

const char *stack_end_name(enum stack_end end)
{
	static const char *const names[STACK_ENDS] = {
		[STACK_BY_FP] = "frame pointers only",
		[STACK_WHOLE] = "whole",
		[STACK_FRAME_LIMIT] = "too many frames",
		[STACK_SNAPSHOT_ENDED] = "snapshot ended",
		[STACK_NO_RULE] = "no rule",
		[STACK_BAD_RETURN] = "bad return address",
		[STACK_NO_PROGRESS] = "stack does not rise",
		[STACK_PAGE_OUT] = "page not in memory",
		[STACK_IN_DOUBT] = "caller in doubt",
	};

	return names[end];
}
