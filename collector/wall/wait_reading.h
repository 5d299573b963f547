// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what is known of a wait that has ended, and was chosen; or the stack of its waker
 * units:   CLOCK_MONOTONIC nanoseconds, PIDs and TIDs as the collector sees them
 * threads: a value; its pointers are borrowed
 * errors:  none
 * source:  wait_source.h
 */
#ifndef FG_WALL_WAIT_READING_H
#define FG_WALL_WAIT_READING_H

#include "sample/record.h"

/*
 * With is_waker the stack is that of the thread pid and tid in the call that has ended the wait
 * which waited_tid began at since_ns; start_ns is that thread's. There are no times and no waker.
 */
struct wait_reading {
	bool is_waker;
	pid_t waited_tid;
	uint64_t since_ns;   /* when it began */
	uint64_t time_ns;    /* when it ended */
	uint64_t start_ns;   /* when the thread began, in the clock of struct thread_reading */
	uint64_t blocked_ns; /* of all waits that it tells of, see n_waits */
	uint64_t weight_ns;  /* blocked time of the thread for which it stands */
	uint32_t n_waits;    /* that followed one another without a return to user mode */
	pid_t pid, tid;
	char comm[SAMPLE_COMM_BYTES]; /* as the kernel called it then; "": not known */
	bool is_cut;		      /* the stack goes on behind the copy */
	int32_t syscall;	      /* -1: in none */
	const uint64_t *regs; /* SAMPLE_REGS_COUNT values, see sample_regs.h; NULL: not known */
	struct sample_chain kernel;
	const uint8_t *stack; /* from the stack pointer upwards; NULL: nothing could be read */
	uint32_t stack_len;
	struct sample_waker waker;
};

#endif
