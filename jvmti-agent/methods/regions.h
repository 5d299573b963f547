// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   CompiledMethodLoad's compile_info -> regions of code, each with one stack of inlined
 *          methods
 * units:   bytes from the start of the code
 * threads: inside the callback only: the JVM frees compile_info afterwards
 * errors:  entries of another kind or version, out of order, or outside the code are skipped
 * source:  jvmticmlr.h; PCStackInfo.pc is the end of the entry's code, methods[0] is the innermost
 *          method
 */
#ifndef FGAGENT_METHODS_REGIONS_H
#define FGAGENT_METHODS_REGIONS_H

#include <jvmti.h>
#include <jvmticmlr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* stack is borrowed from compile_info. */
struct region {
	uint32_t end; /* exclusive */
	const PCStackInfo *stack;
};

struct regions {
	const jvmtiCompiledMethodLoadRecordHeader *record; /* NULL at the end */
	unsigned int n_records;				   /* records seen, which limits the walk */
	jint next;					   /* next entry of record */
	uintptr_t addr;
	uint32_t size;
	uint32_t end; /* end of the last region */
	bool has_ahead;
	struct region ahead; /* the region after the last one, already read */
};

void regions_init(struct regions *regions, const void *compile_info, const void *addr,
		  uint32_t size);

/* The next region; neighbours with equal stacks are joined. False at the end. */
bool regions_next(struct regions *regions, struct region *ret);

/* How many of the outermost frames of a and b are equal. */
uint32_t regions_shared(const PCStackInfo *a, const PCStackInfo *b);

#endif
