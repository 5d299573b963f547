// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   JVMs whose allocations, locks or exceptions are wanted -> open uprobes
 * units:   PIDs, bytes, CLOCK_MONOTONIC nanoseconds
 * threads: the model's; uprobes are opened on threads of the guard
 * errors:  a JVM that cannot be armed is counted, and the first one's reason is kept as a sentence
 * source:  docs/probes.md, sample/uprobe.h, files/probe_cache.h
 *
 * A JVM's files with points are that of the agent and libjvm. At each wanted point an event is
 * opened, at which a program of samples runs. Beside the agent's points there are ones that never
 * run, whose semaphores tell the agent what is wanted, and at which interval. Events are of the
 * JVM's process alone: no other process that maps the file comes across the point.
 *
 * The kernel takes milliseconds to open an event, and reads the file of a container, which may
 * never answer. An open event pins the mount of the file: so events are closed when the process has
 * ended, or is wanted no more. If the collector ends, the kernel closes them.
 *
 * A hit costs its thread a microsecond, whether it is sampled or not. Where more than
 * PROBE_PAUSES_MOST_HZ come of a JVM's libjvm, its events are closed for a while, 2 s at most. What
 * was sampled in the stretch before stands for the pause too: probe_arms_weight.
 *
 * With n JVMs that map one file, a hit in one of them looks at the events of all n, 70 ns each.
 */
#ifndef FG_PROBES_PROBE_ARMS_H
#define FG_PROBES_PROBE_ARMS_H

#include "files/table_cache.h"
#include "process/process.h"
#include "sample/sampler.h"
#include "sinks/named_sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBES_OF_ALLOC	     (SAMPLES_OF_ALLOC | SAMPLES_OF_OBJECTS)
#define PROBES_OF_LOCK	     (SAMPLES_OF_LOCK | SAMPLES_OF_CONTENTIONS)
#define PROBES_OF_EXCEPTIONS SAMPLES_OF_EXCEPTIONS
#define PROBES_OF_ANY	     (PROBES_OF_ALLOC | PROBES_OF_LOCK | PROBES_OF_EXCEPTIONS)

#define PROBE_ARMS_WHY_BYTES 440

#define PROBE_ARMS_DEFAULT_INTERVAL (512u << 10)
#define PROBE_ARMS_MAX_JVMS	    512 /* a container or user has as much as is free */

struct probe_arms_options {
	/*
	 * The mean of bytes between two samples, one of those that agents have points of; 0:
	 * PROBE_ARMS_DEFAULT_INTERVAL.
	 */
	uint32_t alloc_interval;
	bool is_live; /* of allocations only what is not collected is wanted: deaths are told */
};

struct probe_arms_stats {
	size_t armed;	 /* JVMs */
	size_t opening;	 /* JVMs whose file is being read, or whose events are being opened */
	size_t fresh;	 /* of these, those that have waited for less than a second */
	size_t refused;	 /* JVMs some of whose points cannot be had */
	uint64_t pauses; /* since the start, of all JVMs: more hits came than may */
	char why[PROBE_ARMS_WHY_BYTES]; /* of one of these; "" if there is none */
};

struct probe_arms; /* opaque */

/* kinds is a mask of SAMPLES_OF_. The sampler, which has probes, is borrowed. */
int probe_arms_new(const struct probe_arms_options *options, unsigned kinds,
		   const struct sampler *sampler, struct probe_arms **ret);
void probe_arms_free(struct probe_arms *arms); /* NULL is legal */

/*
 * These processes and no others are wanted; call it again every tenth of a second: what takes time
 * goes on. No pause goes on past end_ns.
 */
void probe_arms_want(struct probe_arms *arms, struct table_cache *tables,
		     const struct process *const *wanted, size_t n, uint64_t now_ns,
		     uint64_t end_ns);

/*
 * The weight of a sample of a park or an exception, with the pause that followed. To be asked at
 * least a tenth of a second after the sample's time.
 */
uint64_t probe_arms_weight(const struct probe_arms *arms, const struct record *record);
/* Whether a park began before a pause, and so may be several. */
bool probe_arms_spans_pause(const struct probe_arms *arms, const struct record *record);

void probe_arms_stats(const struct probe_arms *arms, struct probe_arms_stats *ret);

#endif
