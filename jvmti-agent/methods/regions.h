// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   CompiledMethodLoad's compile_info -> regions of code, each with one stack of methods
 * units:   bytes from the code's address
 * threads: inside the callback only: the JVM frees all of it afterwards
 * errors:  what is of another kind or version, out of order or outside the code is skipped
 * source:  jvmticmlr.h; PCStackInfo.pc is the end of what it describes, methods[0] the innermost
 */
#ifndef FGAGENT_METHODS_REGIONS_H
#define FGAGENT_METHODS_REGIONS_H

#include <jvmti.h>
#include <jvmticmlr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The stack is borrowed from compile_info. */
struct region {
	uint32_t end; /* exclusive */
	const PCStackInfo *stack;
};

struct regions {
	const jvmtiCompiledMethodLoadRecordHeader *record; /* NULL at the end */
	unsigned int n_records;				   /* seen, which bounds the chain */
	jint next;					   /* entry of record */
	uintptr_t addr;
	uint32_t size;
	uint32_t end; /* of the last region */
	bool has_ahead;
	struct region ahead; /* read already */
};

void regions_init(struct regions *regions, const void *compile_info, const void *addr,
		  uint32_t size);

/* The next region; neighbours of one stack are one. False at the end. */
bool regions_next(struct regions *regions, struct region *ret);

/* How many of the outermost frames are the same. */
uint32_t regions_shared(const PCStackInfo *a, const PCStackInfo *b);

#endif
