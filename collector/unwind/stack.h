// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a sample -> its stack as addresses, leaf first
 * units:   addr in the kernel or in the process, as the entry says
 * threads: any, values
 * errors:  a stack that does not reach its root says why
 * source:  PERF_SAMPLE_CALLCHAIN of perf_event_open(2)
 */
#ifndef FG_UNWIND_STACK_H
#define FG_UNWIND_STACK_H

#include "sample/perf_record.h"

#include <stdbool.h>
#include <stdint.h>

#define STACK_MAX 1024

struct stack_entry {
	uint64_t addr;
	uint64_t method,
		bcp; /* of an interpreted frame: where the JVM keeps them; 0: not one, or not
				 known */
	bool is_kernel;
	bool is_return; /* a return address: the call lies before it */
};

struct stack {
	struct stack_entry entries[STACK_MAX];
	uint32_t depth;
	bool is_cut; /* at the kernel's or our own limit of frames */
};

/* The address whose function and line are meant: of a return address, the call's last byte. */
uint64_t stack_probe(const struct stack_entry *entry);

/* From the kernel's own walk along frame pointers. */
void stack_from_chain(const struct perf_sample *sample, struct stack *ret);

#endif
