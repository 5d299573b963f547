// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   entries and lines of JSON, by topic -> messages with sequence numbers, published;
 *          requests -> answers that say which sequence number is next
 * units:   bytes, CLOCK_MONOTONIC nanoseconds
 * threads: the model's for all functions; a thread of its own makes JSON of entries and sends
 * errors:  negative errno, said on stderr; what is not published is counted, and leaves a gap in
 *          the sequence numbers of its topic
 * source:  docs/publish.md
 *
 * The model's thread copies an entry or a line into a batch, and waits for nothing. Batches wait
 * for the thread in half of max_bytes; libnng's queues have the other half. While more than half of
 * the room for batches is taken, an owner (guard/owner.h) who has had more than an eighth of the
 * room in this second is left out.
 *
 * A message is never longer than PUBLISH_MESSAGE_MOST. Entries become two messages, of entries and
 * of JSON, with the topics "code.wire" and "code.json" for instance.
 *
 * At most one answer is on its way, which takes the room of a message beside max_bytes.
 */
#ifndef FG_PUBLISH_PUBLISHER_H
#define FG_PUBLISH_PUBLISHER_H

#include "publish/publish_batch.h"
#include "publish/publish_entry.h"
#include "publish/publish_paths.h"
#include "publish/publish_stats.h"

#include <jansson.h>
#include <stdbool.h>

struct publisher; /* opaque */

struct publisher_options {
	struct publish_paths events, state; /* state without any path: nobody can ask */
	size_t max_bytes;		    /* of batches and of libnng's queues */
};

/*
 * Paths are free, see listen_prepare_private. -EAGAIN or -ENOMEM: there are no threads or there is
 * no memory for libnng now.
 */
int publisher_open(const struct publisher_options *options, struct publisher **ret);
/* What libnng has not handed over is lost. NULL is legal. */
void publisher_close(struct publisher *publisher);
void publisher_set_max_bytes(struct publisher *publisher, size_t max_bytes);

/* Whether anybody is there: without subscribers nothing needs to be added. */
bool publisher_is_heard(const struct publisher *publisher);
/* How many subscribers there ever were. */
uint64_t publisher_joined(const struct publisher *publisher);

/*
 * Adds an entry, or a line, which is taken over. group: owner_group of who pays. False: it is
 * dropped or left out, and counted.
 */
bool publisher_add_entry(struct publisher *publisher, enum publish_topic topic, uint64_t group,
			 const struct publish_entry *entry);
bool publisher_add_line(struct publisher *publisher, enum publish_topic topic, uint64_t group,
			json_t *line);
/* A message of the topic without any line: there is nothing to tell, and its numbers say so. */
void publisher_add_none(struct publisher *publisher, enum publish_topic topic);
/* Counts an event that the caller could not make. */
void publisher_lose(struct publisher *publisher, enum publish_topic topic);
/*
 * Says that something of the topic was not added because nobody heard. What comes next comes behind
 * a gap, so that nobody joins it to an answer of before.
 */
void publisher_skip(struct publisher *publisher, enum publish_topic topic);
/* Hands what has been added to the thread; to be called at the end of a turn. */
void publisher_flush(struct publisher *publisher, uint64_t now_ns);

/* Is readable when a request has come; -1: nobody can ask. publisher_next_request clears it. */
int publisher_wake_fd(const struct publisher *publisher);
/* Whether a request waits; its text is copied. It has to have an answer. */
bool publisher_next_request(struct publisher *publisher, char text[PUBLISH_REQUEST_BYTES],
			    size_t *ret_len);
/*
 * Answers behind all that was added before. answer is a batch with is_answer, which is taken; NULL:
 * there is no memory, and so no answer.
 */
void publisher_answer(struct publisher *publisher, struct publish_batch *answer, uint64_t now_ns);

/* A snapshot of one JVM is whole. */
void publisher_count_snapshot(struct publisher *publisher);
void publisher_stats(struct publisher *publisher, struct publish_stats *ret);

#endif
