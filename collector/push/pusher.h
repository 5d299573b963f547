// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   periods that are over -> profiles on their way to each target
 * units:   bytes, counts
 * threads: any for all functions but pusher_close; a thread of its own makes the bodies, and each
 *          target has a thread that sends
 * errors:  said on stderr; what is not pushed is counted
 * source:  none
 *
 * The model's thread hands a period over and waits for nothing: neither for a disk nor for a
 * server. Containers and users share the room for graphs that wait (sinks/graph_queue.h). A process
 * and a kind are one series, or a thread pool of these is, if asked for; a profile that is more
 * than a server takes becomes several.
 */
#ifndef FG_PUSH_PUSHER_H
#define FG_PUSH_PUSHER_H

#include "push/push_options.h"
#include "push/push_stats.h"
#include "sinks/period_parts.h"

struct pusher_options {
	const struct push_options *push; /* borrowed until pusher_close */
	struct period_facts facts;	 /* its texts are copied */
	size_t max_bytes;		 /* of graphs that wait, and again of profiles in memory */
};

struct pusher; /* opaque */

int pusher_open(const struct pusher_options *options, struct pusher **ret);
/* Takes ownership of the period. May drop graphs of it, or of those that wait. */
void pusher_take(struct pusher *pusher, struct period *period);
/* Sets the limit of graphs that wait. */
void pusher_set_max_bytes(struct pusher *pusher, size_t bytes);
void pusher_stats(struct pusher *pusher, struct push_stats *ret);
/*
 * Sends what is there, for at most patience_ns; the rest stays in the spool, or is said to be lost.
 * False: a thread is abandoned, with what was borrowed. NULL is legal.
 */
bool pusher_close(struct pusher *pusher, uint64_t patience_ns);

#endif
