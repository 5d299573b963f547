// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the name of a kernel tracepoint -> its number, which perf_event_open takes
 * units:   none
 * threads: any
 * errors:  -ENOENT: the kernel has no such tracepoint; another negative errno: the trace file
 *          system, which alone says the number, cannot be had
 * source:  Documentation/trace/events.rst, fsopen(2)
 *
 * The trace file system is used where it is mounted (/sys/kernel/tracing, or below debugfs). Where it
 * is not, as in containers and on machines that never traced, an instance is made that is mounted
 * nowhere and gone with the call; the kernel grants that to CAP_SYS_ADMIN of the host.
 */
#ifndef FG_SAMPLE_TRACEPOINT_H
#define FG_SAMPLE_TRACEPOINT_H

#include <stdint.h>

/* system and name as in /sys/kernel/tracing/events/<system>/<name>. */
int tracepoint_find(const char *system, const char *name, uint64_t *ret);

#endif
