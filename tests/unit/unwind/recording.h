// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a text -> samples of a JVM on another machine, and the process that they were taken in
 * units:   addr in that process, bytes
 * threads: one
 * errors:  what cannot be read ends the test; a recording is ours
 * source:  tests/unit/unwind/recorded/README.md
 *
 * The process is this one: its code lies in this process's memory as it lay in that one's, so that
 * whoever reads another process's code reads it here. Where those addresses are taken, all that
 * points there is moved alike.
 */
#ifndef FG_TEST_RECORDING_H
#define FG_TEST_RECORDING_H

#include "process/process.h"

#define RECORDING_REGS	 33
#define RECORDING_WORDS	 8192
#define RECORDING_FRAMES 512

struct recorded_method {
	uint64_t id, method, const_method;
	char name[256];
};

/* A sample, and what is true of its stack, leaf first. */
struct recorded_sample {
	char place[128];
	uint64_t regs[RECORDING_REGS];
	uint64_t stack[RECORDING_WORDS];
	uint32_t n_words;
	uint64_t native[RECORDING_FRAMES]; /* addresses, as libgcc walks them */
	uint32_t n_native;
	struct {
		const struct recorded_method *method;
		int64_t bci;
	} java[RECORDING_FRAMES]; /* as HotSpot walks them */
	uint32_t n_java;	  /* 0: HotSpot could not say */
};

struct recording; /* opaque */

/* Its code, files and mappings are the process's until it is closed. */
struct recording *recording_open(const char *path, struct process *process);
void recording_close(struct recording *recording);
/* False at the end. */
bool recording_next(struct recording *recording, struct recorded_sample *ret);
/* NULL if no truth speaks of it. */
const struct recorded_method *recording_find_method(const struct recording *recording,
						    uint64_t method);
uint64_t recording_const_method_bytes(const struct recording *recording);
/* An address of the process as it was recorded. */
uint64_t recording_addr(const struct recording *recording, uint64_t addr);

#endif
