// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   requests of peers -> the one to be worked on next, and the one that has no place
 * units:   none
 * threads: one at a time
 * errors:  none
 * source:  none
 *
 * WEB_WORKERS requests are worked on at a time, of which one peer has WEB_MOST_OF_PEER at most, so
 * that the first request of anybody else need not wait for a long one. Next is the request of the
 * peer with the fewest in work; among these the oldest. A request past WEB_MAX_WAITING makes one
 * go: the youngest of the peer with the most that wait. So whoever asks for much waits for their
 * own, and a peer that asks seldom is never refused.
 */
#ifndef FG_WEB_WEB_QUEUE_H
#define FG_WEB_WEB_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEB_WORKERS	 3u
#define WEB_MOST_OF_PEER 2u
#define WEB_MAX_WAITING	 32u

/* A request, which the caller owns. */
struct web_queued {
	uint64_t peer;
	bool is_begun;
	struct web_queued *next;
};

/* A zero-filled struct is valid and empty. */
struct web_queue {
	struct web_queued *first; /* in work or waiting, the oldest is the first */
	size_t waiting, begun;
};

/* Adds a request. Returns the one that has to go, and has gone: this one or another; or NULL. */
struct web_queued *web_queue_add(struct web_queue *queue, struct web_queued *queued);
/* The request to be worked on next, which has begun then; NULL: there is none for now. */
struct web_queued *web_queue_take(struct web_queue *queue);
/* Removes a request, in work or waiting. */
void web_queue_remove(struct web_queue *queue, struct web_queued *queued);

#endif
