// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the memory that this program may take -> a limit for each of its pools
 * units:   bytes
 * threads: any
 * errors:  a limit that cannot be read is none
 * source:  cgroups(7), the kernel's cgroup-v1/memory.rst and cgroup-v2.rst, proc(5) meminfo
 *
 * One budget for everything. The pools that all share (tables of files, samples that wait, graphs)
 * have each a limit that is a part of the budget. Processes have what these leave, and at least a
 * half: budget_processes. When processes have more, the greediest container or user makes room
 * (guard/fair.h).
 *
 * The budget is what is asked for. If nothing is, the budget is BUDGET_MOST or a quarter of the
 * machine's memory, but at most three quarters of the least limit of the program's cgroup and of
 * the cgroups above: a quarter is left for the kernel, for threads, and for what malloc cannot give
 * back. Such a limit may change while the program runs, so it is read again each BUDGET_READ_NS.
 */
#ifndef FG_GUARD_BUDGET_H
#define FG_GUARD_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#define BUDGET_MOST  (UINT64_C(4) << 30)
#define BUDGET_LEAST (UINT64_C(64) << 20)

#define BUDGET_READ_NS UINT64_C(60000000000)

struct budget {
	uint64_t bytes;	   /* of all pools */
	uint64_t tables;   /* symbols and unwind rules of files */
	uint64_t messages; /* of agents, not whole */
	uint64_t foreign;  /* perf maps of other runtimes; a part of what processes have */
	uint64_t held;	   /* samples of one recording that wait */
	uint64_t tree;	   /* one recording's call tree, or the window of a top */
	uint64_t capture;  /* one recording's capture */
	uint64_t files;	   /* what is known of files and mappings, without tables */
	uint64_t names;	   /* of frames */
	uint64_t lines;	   /* answers of DWARF readers */
	uint64_t containers;
	uint64_t period;  /* graphs of a period */
	uint64_t waiting; /* graphs that wait to be written */
	uint64_t methods; /* methods and inline tables of one process */
	uint64_t publish; /* events on their way to subscribers */
	uint64_t queries; /* answers over HTTP, and what is made on the way to them */
};

/* The files that the budget is read from; tests have other ones. */
struct budget_files {
	const char *own;     /* /proc/self/cgroup */
	const char *meminfo; /* /proc/meminfo */
	const char *v1;	     /* /sys/fs/cgroup/memory */
	const char *v2;	     /* /sys/fs/cgroup */
	const char *hybrid;  /* /sys/fs/cgroup/unified */
};

/*
 * What this machine allows, as said above; never less than BUDGET_LEAST. files NULL: the usual
 * ones.
 */
uint64_t budget_allowed(const struct budget_files *files);

/* bytes: of all pools; 0: what this machine allows. */
void budget_init(struct budget *budget, uint64_t bytes);

/* What processes may have together while the pools that all share have so much. */
uint64_t budget_processes(const struct budget *budget, uint64_t shared);

#endif
