// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a profile and its timeline -> the profile with a label frame of the thread pool above
 *          the first frames of each Java thread
 * units:   samples
 * threads: any number at once on one source; the result belongs to one
 * errors:  -ENOMEM; -EOVERFLOW where the tree would pass a profile's node cap
 * source:  the names of the functions in HotSpot, libjli and the C library that begin threads
 *
 * All Java threads begin with the same frames: clone3, start_thread, some of the JVM, and
 * call_stub, which calls the first Java method. These eight to ten frames say nothing. What tells
 * stacks apart is the pool of the thread, which is no frame but part of the thread's name.
 *
 * The pool's label stands above those frames and below the labels of processes and threads; below
 * the label are only stacks of the pool's threads. All frames stay, so that a drawing can leave out
 * either the first frames or the label. A stack stays without a label if it has no call_stub, if it
 * is cut, so that "[truncated: ...]" stands where its first frames would, or if code outside the
 * JVM, the launcher and the C library calls call_stub: the frames of that code say something. Where
 * a label names the thread already, the pool's label is "Java thread". Samples of
 * unknown threads belong to the pool TIMELINE_OTHER_THREADS, and so do samples of the smallest
 * pools beyond POOLS_MAX.
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
	/* only the entries are owned; the rest is borrowed from the source timeline */
	struct timeline timeline;
};

int pools_init(struct pooled *pooled, const struct profile *from, const struct timeline *timeline);
void pools_fini(struct pooled *pooled);

/*
 * The common part of the names of a pool's threads: "http-nio-8080-exec-7" becomes
 * "http-nio-8080-exec-*". A '*' replaces:
 *
 * - digits at the end of the name, closing brackets behind them aside,
 * - six digits and more, which are an address or a hash,
 * - the last digits of the name, and all digits in a name of several words, unless the digits
 *   follow a letter as in "C2".
 *
 * A part that begins with " - " behind a digit is cut, because it says what the thread does at the
 * moment. The pool of a thread without a name is TIMELINE_OTHER_THREADS.
 */
void pool_name(const char *thread, char ret[POOL_NAME_BYTES]);

/*
 * pool_is_label: the node is the label of a pool. pool_ends_start: the node is call_stub, which
 * calls the first Java method.
 */
bool pool_is_label(const struct profile_node *node);
bool pool_ends_start(const struct profile_node *node);

#endif
