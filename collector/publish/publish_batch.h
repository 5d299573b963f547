// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   entries or lines on their way from the model's thread to libnng
 * units:   bytes, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  none
 * source:  none
 */
#ifndef FG_PUBLISH_PUBLISH_BATCH_H
#define FG_PUBLISH_PUBLISH_BATCH_H

#include "encode/bytes.h"
#include "guard/heap_bytes.h"
#include "publish/publish_request.h"

#include <stdlib.h>

#define PUBLISH_MESSAGE_MOST  (64u << 10)
#define PUBLISH_ROOM_FOR_HEAD 640u /* of a message: topic, header or first line */
#define PUBLISH_BATCH_MOST    (PUBLISH_MESSAGE_MOST - PUBLISH_ROOM_FOR_HEAD)

enum publish_topic {
	PUBLISH_JVM,	  /* lines */
	PUBLISH_SUMMARY,  /* lines */
	PUBLISH_EVENT,	  /* entries: "code" */
	PUBLISH_SNAPSHOT, /* entries */
	PUBLISH_TOPICS,
};

/* Entries or lines of one topic; or an answer. */
struct publish_batch {
	struct publish_batch *next;
	enum publish_topic topic;
	bool is_answer;
	enum publish_form form;	       /* of the answer */
	uint64_t more;		       /* the same: FROM of the next request; 0: there is no more */
	uint32_t count;		       /* of entries or lines */
	uint64_t lost[PUBLISH_TOPICS]; /* messages of each topic that were lost before this one */
	uint64_t time_ns;
	struct bytes bytes;
};

static inline size_t publish_batch_bytes(const struct publish_batch *batch)
{
	return heap_bytes(sizeof(*batch)) + heap_bytes(batch->bytes.size);
}

/* NULL is legal. */
static inline void publish_batch_free(struct publish_batch *batch)
{
	if (batch)
		bytes_fini(&batch->bytes);
	free(batch);
}

#endif
