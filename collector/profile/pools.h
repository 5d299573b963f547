// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a profile and its timeline -> the profile in which a label of its pool stands above what
 *          each Java thread begins with
 * units:   samples
 * threads: any number at once on one source; what is made of it belongs to one
 * errors:  -ENOMEM; -EOVERFLOW where the tree would pass a profile's cap
 * source:  the names of HotSpot's, libjli's and the C library's functions that begin threads
 *
 * A Java thread begins with the same frames as all others: clone3, start_thread, some of the JVM's,
 * and call_stub, which calls the first Java method. They are nine and say nothing. What tells
 * stacks apart is the pool that the thread is of, and that is no frame but in the thread's name.
 *
 * The label goes above those frames, below labels of processes and threads; below it are the
 * stacks of the pool's threads alone. All frames stay, so that who draws can leave out the start or
 * the label. Stacks without call_stub, or where it is called by code that is not the JVM's, the
 * launcher's or the C library's, stay as they were, for those frames say something. Where labels
 * name the thread already, the pool's is "Java thread". Samples of a thread that is not known, and
 * those of pools past POOLS_MAX, the smallest ones, are of TIMELINE_OTHER_THREADS.
 */
#ifndef FG_PROFILE_POOLS_H
#define FG_PROFILE_POOLS_H

#include "profile/profile.h"
#include "profile/timeline.h"

#include <stdbool.h>

#define POOLS_MAX	256u
#define POOL_NAME_BYTES 256u /* longer names are cut */
#define POOL_MODULE	"[thread pool]"

struct pooled {
	struct profile profile;
	struct timeline timeline; /* only its entries are its own */
};

int pools_init(struct pooled *pooled, const struct profile *from, const struct timeline *timeline);
void pools_fini(struct pooled *pooled);

/*
 * What threads of one pool have in common: "http-nio-8080-exec-7" is of "http-nio-8080-exec-*". A
 * * stands for digits at the end, for the last ones, for six and more, which are an address or
 * hash, and in names of several words for all, unless they are part of a word as in "C2". What
 * follows " - " behind a digit is what the thread does at the moment. The pool of a thread without a
 * name is TIMELINE_OTHER_THREADS.
 */
void pool_name(const char *thread, char ret[POOL_NAME_BYTES]);

/* Whether a node is the label of a pool, and whether it is what calls the first Java method. */
bool pool_is_label(const struct profile_node *node);
bool pool_ends_start(const struct profile_node *node);

#endif
