// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   batches -> messages with sequence numbers, sent by libnng; answers, which say what the
 *          next sequence numbers are
 * units:   bytes, CLOCK_MONOTONIC nanoseconds
 * threads: one; publish_sender_stats is any thread's
 * errors:  counted; they leave a gap in the sequence numbers
 * source:  docs/publish.md
 *
 * Batches and answers come in the order in which the model made them. So what an answer says of the
 * model is what the model was before the message with the next sequence number.
 */
#ifndef FG_PUBLISH_PUBLISH_SENDER_H
#define FG_PUBLISH_PUBLISH_SENDER_H

#include "publish/publish_batch.h"
#include "publish/publish_inbox.h"
#include "publish/publish_stats.h"

#define PUBLISH_QUEUE_MOST 256u /* messages that libnng keeps */

/* The names that messages have. */
enum publish_channel {
	PUBLISH_CH_JVM,
	PUBLISH_CH_SUMMARY,
	PUBLISH_CH_CODE_WIRE,
	PUBLISH_CH_CODE_JSON,
	PUBLISH_CH_SNAPSHOT_WIRE,
	PUBLISH_CH_SNAPSHOT_JSON,
	PUBLISH_CHANNELS,
};

struct publish_sender {
	struct publish_socket *socket; /* borrowed */
	struct publish_inbox *inbox;   /* borrowed; NULL: nobody can ask */
	uint64_t instance;
	uint64_t seqs[PUBLISH_CHANNELS];
	struct bytes line;		   /* of JSON */
	struct bytes text;		   /* lines of the message that is being made */
	unsigned queue;			   /* messages that libnng keeps */
	uint32_t kept[PUBLISH_QUEUE_MOST]; /* lengths of the last messages, a ring */
	size_t next_kept;
	pthread_mutex_t lock; /* guards stats */
	struct publish_stats stats;
};

void publish_sender_init(struct publish_sender *sender, struct publish_socket *socket,
			 struct publish_inbox *inbox);
void publish_sender_fini(struct publish_sender *sender);

void publish_sender_send(struct publish_sender *sender, const struct publish_batch *batch);
/* Sets how many messages libnng keeps, by the memory that they may take. */
void publish_sender_set_queue(struct publish_sender *sender, size_t max_bytes);
/* Nobody is there, and so nobody's queue. */
void publish_sender_forget_kept(struct publish_sender *sender);
/* Looks after listeners; to be called about once a second. */
void publish_sender_step(struct publish_sender *sender, uint64_t now_ns);
/* Sets the members that a sender counts. */
void publish_sender_stats(struct publish_sender *sender, struct publish_stats *ret);

#endif
