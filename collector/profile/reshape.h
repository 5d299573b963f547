// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a profile -> one with fewer boxes: a method is one whatever it was compiled to, all time
 *          is its Java method's, frameworks are folded, starts of threads are one
 * units:   samples
 * threads: any number at once on one source; a reshaped one belongs to one
 * errors:  -ENOMEM
 * source:  none
 *
 * Levels of compilation are properties of samples: a method that was interpreted, compiled by C1
 * and by C2 at one place of the tree is one node with the samples of all. The node's kind is that
 * of most of its samples. The node's counts by level say the rest.
 *
 * With java_only what is no Java method gives its samples to the Java method that called it,
 * kernel, native code and JVM alike. What begins a thread is left out. Samples without a Java
 * method end in a node that says whose they are: [JIT compiler], [GC] or [no Java method]. Labels
 * stay.
 *
 * With folds_frameworks a run of frames of frameworks is one label, "[Spring, Tomcat: 34 frames]":
 * which ones, and how many at most. A run begins with a frame of a framework; the JDK's frames
 * belong to it.
 *
 * With hides_starts what stands between a label of a thread pool and the first Java method is left
 * out, see pools.h.
 */
#ifndef FG_PROFILE_RESHAPE_H
#define FG_PROFILE_RESHAPE_H

#include "profile/profile.h"
#include "profile/timeline.h"

#include <stdbool.h>
#include <stdint.h>

enum level {
	LEVEL_INTERPRETED,
	LEVEL_C1,
	LEVEL_C2, /* or compiled at a level that is not known */
	LEVEL_INLINED,
	LEVELS,
};

/* A node's total by level; what is no Java method, or not known how it ran, has none. */
struct level_counts {
	uint64_t totals[LEVELS];
};

struct reshape_options {
	bool merges_levels;
	bool java_only;
	bool hides_starts;
	bool folds_frameworks;
	bool is_compared; /* runs have one name, for those before and after are to be one */
};

struct reshaped {
	struct profile profile;
	uint32_t *of; /* source's number -> profile's, where its own samples are */
	uint32_t n_of;
	struct level_counts *levels; /* by profile's numbers */
};

int reshape_init(struct reshaped *reshaped, const struct profile *from,
		 const struct reshape_options *options);
void reshape_fini(struct reshaped *reshaped);

/* "interpreted", "C1", "C2", "inlined" */
const char *level_name(enum level level);
/* How many levels a node has samples of. */
unsigned level_count(const struct level_counts *counts);

/*
 * A copy of entries by the new numbers, sorted; UINT32_MAX of what was no node. Its texts, processes and threads are timeline's.
 * The caller frees ret->entries.
 */
int reshape_timeline(const struct reshaped *reshaped, const struct timeline *timeline,
		     struct timeline *ret);

#endif
