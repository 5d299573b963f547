// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the name of a kernel tracepoint -> its number, which perf_event_open takes
 * units:   none
 * threads: any
 * errors:  -ENOENT: the kernel has no such tracepoint; another negative errno: the trace file
 *          system, which has the number, cannot be read
 * source:  Documentation/trace/events.rst, fsopen(2)
 *
 * The trace file system is read where it is mounted (/sys/kernel/tracing, or below debugfs). In
 * containers, and on hosts that never traced, it is not mounted. Then an instance is made that is
 * mounted nowhere and closed before the call returns; this needs CAP_SYS_ADMIN of the host.
 */
#ifndef FG_SAMPLE_TRACEPOINT_H
#define FG_SAMPLE_TRACEPOINT_H

#include <stdint.h>

/* system and name as in /sys/kernel/tracing/events/<system>/<name>. */
int tracepoint_find(const char *system, const char *name, uint64_t *ret);

#endif
