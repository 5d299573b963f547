// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a source of threads tells of one thread at one moment
 * units:   CLOCK_MONOTONIC nanoseconds, PIDs and TIDs as the collector sees them
 * threads: a value; its pointers are borrowed
 * errors:  none
 * source:  the kernel's struct task_struct; thread_source.h
 */
#ifndef FG_WALL_THREAD_READING_H
#define FG_WALL_THREAD_READING_H

#include "sample/record.h"

struct thread_reading {
	uint64_t time_ns;
	uint64_t start_ns;  /* when the thread began; 0: not known */
	uint64_t run_ns;    /* so long it has run on a CPU, up to its last tick or switch */
	uint64_t delay_ns;  /* so long it has waited for a CPU, up to the last time it got one */
	uint64_t switches;  /* so often it has left a CPU */
	uint64_t voluntary; /* of them by itself, to wait for something */
	pid_t pid, tid;
	enum thread_state state;
	char comm[SAMPLE_COMM_BYTES]; /* as the kernel called it then; "": not known */
	/*
	 * A stack comes if the thread does not run, and has run since the last one. It waits where
	 * it waited if it has not.
	 */
	bool has_stack;
	bool is_changed; /* no stack: it ran meanwhile, or its process changed its mappings */
	bool is_cut;	 /* the stack goes on behind the copy */
	/* If has_stack: */
	int32_t syscall;      /* -1: in none */
	const uint64_t *regs; /* SAMPLE_REGS_COUNT values, see sample_regs.h */
	struct sample_chain kernel;
	const uint8_t *stack; /* from the stack pointer upwards; NULL: nothing could be read */
	uint32_t stack_len;
};

#endif
