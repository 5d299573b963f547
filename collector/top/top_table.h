// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a call tree and who its samples were of -> methods, threads and processes with shares
 * units:   samples
 * threads: one
 * errors:  -ENOMEM
 * source:  none
 *
 * A method is a name in a process, however it was compiled; so are functions, of files or of the
 * kernel. Its self is of samples that were taken in it, its total of those that had it anywhere on
 * the stack, each counted once however often it was there. Labels of the tree are no methods, but
 * where a sample ends in one, such as [overflow], it has a row, so that selves add up to all.
 *
 * The tree's children of the root say whose stack it is, and are not looked at: the timeline does.
 */
#ifndef FG_TOP_TOP_TABLE_H
#define FG_TOP_TOP_TABLE_H

#include "profile/profile.h"
#include "profile/timeline.h"

#include <stdint.h>
#include <sys/types.h>

#define TOP_NONE UINT32_MAX

struct top_method {
	const char *name; /* the profile's */
	uint32_t process; /* its number in the timeline */
	uint32_t first;	  /* node: those of it that are in no other call of it; then next[] */
	uint64_t self, total;
	uint64_t kinds[FRAME_KINDS]; /* samples that had it on the stack so */
};

/* A thread or a process of the timeline, by the same number. */
struct top_owner {
	uint64_t samples;
	uint32_t threads; /* of a process, that were sampled */
	uint32_t method;  /* with the greatest self, or TOP_NONE */
};

/* Whose samples are looked at; 0 is any. */
struct top_choice {
	pid_t pid, tid;
};

struct top_table {
	const struct profile *profile;	 /* borrowed, like timeline */
	const struct timeline *timeline; /* one entry for each thread and leaf */
	uint64_t samples;		 /* chosen ones */
	uint64_t *totals;		 /* of nodes: chosen samples at or below them */
	uint64_t *selves;
	uint32_t *methods_of; /* nodes' methods, or TOP_NONE */
	uint32_t *next;	      /* node of the same method that is outermost too, or TOP_NONE */
	struct top_method *methods;
	uint32_t n_methods, methods_size;
	struct top_owner *threads, *processes;
};

/* Borrows both until top_table_fini. On an error the table is empty. */
int top_table_make(const struct profile *profile, const struct timeline *timeline,
		   const struct top_choice *choice, struct top_table *ret);
void top_table_fini(struct top_table *table); /* a zero-filled one is legal */

/* The kind that it was seen as most. */
enum frame_kind top_method_kind(const struct top_method *method);

#endif
