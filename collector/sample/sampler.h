// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   perf events of the kernel -> records
 * units:   hertz, PIDs, bytes
 * threads: one at a time
 * errors:  negative errno, said on stderr with the remedy
 * source:  perf_event_open(2), Documentation/admin-guide/perf-security.rst
 *
 * One event and one ring a CPU. System-wide by default: its cost does not grow with the number of
 * processes; who is of interest is decided behind. For one process of an ordinary user, who may not
 * look at the whole system, one event a thread and CPU into the same rings.
 */
#ifndef FG_SAMPLE_SAMPLER_H
#define FG_SAMPLE_SAMPLER_H

#include "sample/perf_record.h"

#include <linux/perf_event.h>

#define SAMPLER_DEFAULT_HZ 99

/* Order and meaning of a sample's fields; perf_parse.c reads them. */
#define SAMPLER_TYPE                                                                               \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |                   \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

struct sampler_options {
	const char *event; /* "cycles", "cpu-clock", "task-clock"...; NULL: the best there is */
	unsigned hz;
	/* If the whole system may not be looked at: only this process. 0: then it is an error. */
	pid_t fallback_pid;
};

struct sampler_stats {
	uint64_t records;
	uint64_t lost; /* the kernel's count of records without room */
	uint64_t throttled;
	uint64_t broken; /* records that were not as they should be */
	size_t ring_bytes;
};

typedef void (*sampler_fn)(void *arg, const struct perf_record *record);

struct sampler; /* opaque */

/* Whether event is a name that sampler_open knows; the names for messages. */
bool sampler_is_event(const char *event);
const char *sampler_events(void);

/* Starts sampling. */
int sampler_open(const struct sampler_options *options, struct sampler **ret);
void sampler_close(struct sampler *sampler); /* NULL is legal */

/* Stops sampling; what the rings hold can still be read. */
void sampler_stop(struct sampler *sampler);

/* What is sampled, for titles: "cycles" or "cpu-clock". */
const char *sampler_event(const struct sampler *sampler);
/* Whether samples hold the kernel's part of the stack. */
bool sampler_has_kernel(const struct sampler *sampler);

/* Calls fn for each record that waits in the rings, ring by ring. */
void sampler_read(struct sampler *sampler, sampler_fn fn, void *arg);

/* Descriptors to poll(2): readable when a ring is a quarter full. Returns how many there are. */
size_t sampler_fds(const struct sampler *sampler, const int **ret_fds);

void sampler_stats(const struct sampler *sampler, struct sampler_stats *ret);

#endif
