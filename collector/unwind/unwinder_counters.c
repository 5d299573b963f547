// SPDX-License-Identifier: Apache-2.0
/* What the unwinder counts, see unwinder.h. */
#include "unwind/unwinder.h"

static const char *end_name(size_t end)
{
	return stack_end_name((enum stack_end)end);
}

static const struct counter counters[] = {
	COUNTER_SUM(struct unwinder_stats, ends, "stacks.ends", "stacks_total",
		    "Stacks that were walked, by how they ended.",
		    COUNTER_EACH(struct unwinder_stats, ends, "end", end_name)),
	COUNTER_SUM(struct unwinder_stats, joined, "stacks.joined", "stacks_joined_total",
		    "Stacks that go on in the kernel's walk."),
	COUNTER_SUM(struct unwinder_stats, extended, "stacks.extended", "stacks_extended_total",
		    "Stacks that go on in the process's memory."),
	COUNTER_SUM(
		struct unwinder_stats, doubtful, "stacks.doubtful", "stacks_doubtful_total",
		"Stacks that are cut because what lies behind the snapshot changed about then."),
	COUNTER_SUM(struct unwinder_stats, reads, "stacks.reads", "stack_reads_total",
		    "Reads of a process's memory for stacks."),
	COUNTER_SUM(struct unwinder_stats, unread_code, "stacks.unread_code",
		    "stack_unread_code_total", "Times that a JVM's code could not be read."),
	COUNTER_SUM(struct unwinder_stats, unread_stacks, "stacks.unread_stacks",
		    "stack_unread_remainders_total",
		    "Times that the remainder of a deep stack could not be read."),
	COUNTER_SUM(struct unwinder_stats, unread_instructions, "stacks.unread_instructions",
		    "stack_unread_instructions_total",
		    "Samples in compiled code whose instruction is not known."),
	COUNTER_SUM(struct unwinder_stats, in_heap, "stacks.in_heap", "stacks_in_heap_total",
		    "Stacks of virtual threads that go on in the heap."),
	COUNTER_SUM(struct unwinder_stats, heap_gaps, "stacks.heap_gaps", "stacks_heap_gaps_total",
		    "Of these, stacks without their frames in the heap."),
	COUNTER_GAUGE(struct unwinder_stats, remainder_bytes, "kept.stack_remainder_bytes",
		      "stack_remainder_bytes",
		      "Memory of what lies behind the snapshots of deep stacks."),
	COUNTER_SUM(struct unwinder_stats, dropped_remainders, "kept.stack_remainders_dropped",
		    "stack_remainders_dropped_total",
		    "Remainders of deep stacks that were dropped for newer ones."),
	COUNTER_GAUGE(struct unwinder_stats, heap_stack_bytes, "kept.heap_stack_bytes",
		      "heap_stack_bytes",
		      "Memory of frames of virtual threads that were read from heaps."),
	COUNTER_SUM(struct unwinder_stats, dropped_heap_stacks, "kept.heap_stacks_dropped",
		    "heap_stacks_dropped_total",
		    "Stacks of virtual threads from heaps that were dropped for newer ones."),
};

const struct counters unwinder_counters = COUNTERS(struct unwinder_stats, counters);
