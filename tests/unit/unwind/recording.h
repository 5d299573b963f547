// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a text -> samples of a JVM on another machine, and the process that was sampled
 * units:   addr in the sampled process, bytes
 * threads: one
 * errors:  a line that cannot be read ends the test, because recordings belong to the tests
 * source:  tests/unit/unwind/recorded/README.md
 *
 * This process stands for the sampled process. The sampled process's code is put into this
 * process's memory at the recorded addresses, where the unwinder reads the code. If these addresses
 * are in use, the code is moved, and all addresses that point to the code are moved with it.
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

/* A sample, and its true stack, leaf first. */
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
	uint32_t n_java;	  /* 0: HotSpot's walk failed */
};

struct recording; /* opaque */

/* Opens a recording. Its code, files and mappings are those of process until it is closed. */
struct recording *recording_open(const char *path, struct process *process);
void recording_close(struct recording *recording);
/* Reads the next sample. False: the recording has ended. */
bool recording_next(struct recording *recording, struct recorded_sample *ret);
/* NULL if the true stacks do not have the method. */
const struct recorded_method *recording_find_method(const struct recording *recording,
						    uint64_t method);
uint64_t recording_const_method_bytes(const struct recording *recording);
/* The address in this process of an address in the recorded process. */
uint64_t recording_addr(const struct recording *recording, uint64_t addr);

#endif
