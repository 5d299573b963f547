// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a profile -> a profile with fewer nodes: levels of compilation merged, native code given
 *          to Java methods, frameworks folded, first frames of threads left out
 * units:   samples
 * threads: any number at once on one source; the result belongs to one
 * errors:  -ENOMEM
 * source:  none
 *
 * With merges_levels a method at one place of the tree is one node, whether it was interpreted,
 * compiled by C1, compiled by C2 or inlined. The node's kind is the kind of most of its samples;
 * struct level_counts has the totals of each level.
 *
 * With java_only a frame that is no Java method (kernel, native code, JVM) is left out, and its
 * samples go to the Java method that called it. The first frames of a thread are left out. Samples
 * without a Java method end in a label that names the thread's task: [JIT compiler], [GC] or [no
 * Java method]. Labels stay, and so does what says why a thread waits.
 *
 * With folds_frameworks a run of framework frames becomes one label with the frameworks and the
 * length of the longest run, "[Spring, Tomcat: 34 frames]". A run begins with a framework's frame;
 * the JDK's frames continue a run.
 *
 * With hides_starts the frames between a thread pool's label and the first Java method are left
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
	LEVEL_C2, /* or compiled at an unknown level */
	LEVEL_INLINED,
	LEVELS,
};

/*
 * A node's total by level. All are 0 for a node that is no Java method or whose level is not known.
 */
struct level_counts {
	uint64_t totals[LEVELS];
};

struct reshape_options {
	bool merges_levels;
	bool java_only;
	bool hides_starts;
	bool folds_frameworks;
	bool is_compared; /* all runs have one name, so that runs before and after are equal */
};

struct reshaped {
	struct profile profile;
	uint32_t *of; /* node of the source -> node of profile in which its self samples are */
	uint32_t n_of;
	struct level_counts *levels; /* by node number of profile */
};

/*
 * Returns 1 if the result would be another tree than from, else 0: then reshape_init is not needed.
 * No node of from has samples of several levels then.
 */
int reshape_changes(const struct profile *from, const struct reshape_options *options);
int reshape_init(struct reshaped *reshaped, const struct profile *from,
		 const struct reshape_options *options);
void reshape_fini(struct reshaped *reshaped);

/* "interpreted", "C1", "C2", "inlined" */
const char *level_name(enum level level);
/* The number of levels in which the node has samples. */
unsigned level_count(const struct level_counts *counts);

/*
 * Copies the timeline's entries with the node numbers of reshaped->profile, sorted. An entry of a
 * node that the source does not have gets UINT32_MAX. The texts, processes and threads of ret are
 * borrowed from timeline. The caller frees ret->entries.
 */
int reshape_timeline(const struct reshaped *reshaped, const struct timeline *timeline,
		     struct timeline *ret);

#endif
