// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a place in a file's code, a process and a BPF program -> a link between them
 * units:   bytes in the file
 * threads: any
 * errors:  negative errno
 * source:  kernel/trace/bpf_trace.c: bpf_uprobe_multi_link_attach
 *
 * A link of many uprobes, of which one is used here, needs no perf event: CAP_BPF and CAP_PERFMON
 * are enough. The program runs from the call on for all threads of the process, and the semaphore
 * is one higher, until the link is closed. Linux 6.6 has such links. The first ones of them knew
 * threads where processes are asked for, and do not count.
 */
#ifndef FG_SAMPLE_UPROBE_MULTI_H
#define FG_SAMPLE_UPROBE_MULTI_H

#include <stdint.h>
#include <sys/types.h>

/*
 * BPF_TRACE_UPROBE_MULTI: the type that a program is loaded for. Headers of Linux 6.1 have no name.
 */
#define UPROBE_MULTI_TYPE 48

/* A program that does nothing, to be linked where a semaphore alone is wanted. Loads it. */
int uprobe_multi_load_nothing(void);
/*
 * 0: the kernel has such links of processes, and this process may make programs. -EOPNOTSUPP,
 * -EPERM.
 */
int uprobe_multi_check(void);
/* The link, to be closed. semaphore_off 0: none. -ESRCH: the process is gone. */
int uprobe_multi_open(int file_fd, uint64_t file_off, uint64_t semaphore_off, pid_t pid,
		      int program_fd);

#endif
