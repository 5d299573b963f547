// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   PIDs -> a hash table of the kernel, in which a BPF program looks for them
 * units:   PIDs of the initial PID namespace
 * threads: one at a time
 * errors:  the table is full, or there is no memory: it has some of the PIDs, and the rest is
 *          counted
 * source:  bpf(2), BPF_MAP_TYPE_HASH
 *
 * A copy of the table here tells what has changed, so that a call without changes costs no system
 * call.
 */
#ifndef FG_SAMPLE_BPF_WANTED_H
#define FG_SAMPLE_BPF_WANTED_H

#include "base/map64.h"

#include <sys/types.h>

struct bpf_wanted {
	int fd; /* of the kernel's table, u32 -> u64; borrowed */
	struct map64 pids;
};

/* From now on the table has these PIDs and no others. Returns how many of them had no room. */
size_t bpf_wanted_set(struct bpf_wanted *wanted, const pid_t *pids, size_t n);
/* False: there was no room. */
bool bpf_wanted_add(struct bpf_wanted *wanted, pid_t pid);
void bpf_wanted_fini(struct bpf_wanted *wanted);

#endif
