// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bodies of requests -> requests to one target, by a thread of its own
 * units:   nanoseconds
 * threads: any
 * errors:  said on stderr when a target begins to fail, and when that ends
 * source:  none
 *
 * Requests start in order, and up to PUSH_HTTP_REQUESTS are under way: Pyroscope answers each only
 * when it has written what came in half a second. Their number grows by one with each that was
 * taken, and is one after a failure, so that a server's end puts few profiles in doubt.
 *
 * A target that hangs holds up this thread alone. After a failure the thread waits, longer each
 * time (push_fate.h); what waits meanwhile is in the spool.
 */
#ifndef FG_PUSH_PUSH_SENDER_H
#define FG_PUSH_PUSH_SENDER_H

#include "push/push_config.h"
#include "push/push_spool.h"

struct push_sender; /* opaque */

/* target is borrowed. */
int push_sender_open(const struct push_target *target, const struct push_spool_options *spool,
		     struct push_sender **ret);
void push_sender_add(struct push_sender *sender, const struct bytes *body, uint64_t samples);
void push_sender_stats(struct push_sender *sender, struct push_target_stats *ret);

/* From now on the thread sends what is there, and waits for nothing. */
void push_sender_finish(struct push_sender *sender);
/*
 * Gives what is there until until_ns of CLOCK_MONOTONIC to be sent. Requests under way are then
 * told to end, and their profiles are in doubt. To be followed by push_sender_close.
 */
void push_sender_wait(struct push_sender *sender, uint64_t until_ns);
/*
 * Waits as push_sender_wait does, then for the request that was told to end, and says what was not
 * sent. Of several senders all are waited for first, so that their requests end at one time.
 * -ETIMEDOUT: the request does not end, and the thread is abandoned with all that it uses, the
 * target too. NULL is legal.
 */
int push_sender_close(struct push_sender *sender, uint64_t until_ns);

#endif
