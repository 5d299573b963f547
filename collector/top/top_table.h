// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a call tree and its timeline -> methods, threads and processes with shares
 * units:   samples
 * threads: one
 * errors:  -ENOMEM
 * source:  none
 *
 * A method is a name in a process, at any level of compilation; functions of files and of the
 * kernel count as methods. Its self weight is the samples taken in it. Its total weight is the
 * samples that have it on their stack, each counted once. Label frames are no methods, except where
 * samples end in one, such as [overflow]: then the label has a row, so that the self weights add up
 * to all samples.
 *
 * The children of the tree's root are labels of processes and are ignored: the timeline has the
 * processes.
 */
#ifndef FG_TOP_TOP_TABLE_H
#define FG_TOP_TOP_TABLE_H

#include "profile/profile.h"
#include "profile/timeline.h"
#include "profile/waits.h"

#include <stdint.h>
#include <sys/types.h>

#define TOP_NONE UINT32_MAX

struct top_method {
	const char *name; /* owned by the profile */
	uint32_t process; /* number in the timeline */
	/* first of its outermost nodes, which are not below another one; then next[] */
	uint32_t first;
	uint64_t self, total;
	uint64_t kinds[FRAME_KINDS]; /* samples that have it on their stack, by kind */
};

/* A thread or a process, under its number in the timeline. */
struct top_owner {
	uint64_t samples;
	uint32_t threads; /* of a process: its sampled threads */
	uint32_t method;  /* the method with the greatest self weight, or TOP_NONE */
	bool is_counted;  /* of a thread's first row: the thread is among its process's threads */
};

/* The process or thread whose samples are taken; 0: all. Of these, stacks in wanted states. */
struct top_choice {
	pid_t pid, tid;
	struct wait_options waits; /* idle stacks are hidden unless they are to be shown */
};

struct top_table {
	const struct profile *profile;	 /* borrowed, as timeline is */
	const struct timeline *timeline; /* one entry for each thread and leaf */
	struct waits waits;		 /* of the whole profile */
	uint64_t samples;		 /* chosen samples */
	uint64_t *totals;		 /* by node: chosen samples at or below it */
	uint64_t *selves;
	uint32_t *methods_of; /* by node: its method, or TOP_NONE */
	uint32_t *next;	      /* by node: next outermost node of the method, or TOP_NONE */
	struct top_method *methods;
	uint32_t n_methods, methods_size;
	struct top_owner *threads, *processes;
};

/* What becomes of idle stacks. */
enum waits_way top_choice_way(const struct top_choice *choice);

/* Borrows profile and timeline until top_table_fini. On an error the table is empty. */
int top_table_make(const struct profile *profile, const struct timeline *timeline,
		   const struct top_choice *choice, struct top_table *ret);
void top_table_fini(struct top_table *table); /* a zero-filled struct is legal */

/* The kind that most samples of the method have. */
enum frame_kind top_method_kind(const struct top_method *method);

#endif
