// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a thread does that does not run -> the name of the leaf frame that says so
 * units:   numbers of system calls of this machine's architecture
 * threads: any
 * errors:  none; what is not known is not said
 * source:  syscalls(2); the kernel's functions on whose account a thread sleeps
 *
 * "[runnable]" waits for a CPU. "[blocked: futex]" waits in that system call, "[blocked: disk]" for
 * input or output whatever call that was for, "[blocked: page fault]" for a page of its memory,
 * "[blocked: stopped]" for a signal or a debugger, "[blocked: frozen]" for its cgroup.
 */
#ifndef FG_RECORDING_WAIT_FRAME_H
#define FG_RECORDING_WAIT_FRAME_H

#include "sample/record.h"
#include "symbolize/frame.h"

#include <stddef.h>

#define WAIT_FRAME_BYTES 64

/*
 * The name for a thread that is blocked in the system call, -1 for none. frames is its named stack,
 * leaf first. Returns ret.
 */
const char *wait_frame_blocked(int32_t syscall, const struct frame *frames, size_t n,
			       char ret[WAIT_FRAME_BYTES]);
#define WAIT_FRAME_RUNNABLE "[runnable]"

/*
 * The name for who has ended a wait, not WAKER_UNKNOWN: "[woken by main]", "[woken by an
 * interrupt]". told is the thread's name as its process tells it; "": the kernel's name is taken.
 */
void wait_frame_waker(const struct sample_waker *waker, const char *told, char *ret, size_t size);

#endif
