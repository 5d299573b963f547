// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   periods that are over -> the same periods, one after another, with less in them when
 *          room is short
 * units:   bytes
 * threads: one at a time
 * errors:  -ENOMEM
 * source:  none
 *
 * Graphs that wait to be written take at most max_bytes. Containers, and users of the host, share
 * these bytes (guard/fair.h). When there is no room, graphs of those who have most are dropped, the
 * oldest first. The period that is being written keeps its room until it is done.
 */
#ifndef FG_SINKS_GRAPH_QUEUE_H
#define FG_SINKS_GRAPH_QUEUE_H

#include "sinks/period.h"

struct graph_queue {
	struct waiting_period *first, **end;
	size_t bytes;	      /* of all periods, the one that is being written included */
	size_t writing_bytes; /* of these, those of the period that is being written */
	size_t max_bytes;
};

void graph_queue_init(struct graph_queue *queue, size_t max_bytes);
/* Takes ownership of the period. *ret_dropped: the graphs that were dropped. */
int graph_queue_add(struct graph_queue *queue, struct period *period, size_t *ret_dropped);
/* The period that has waited longest, which the caller then owns. NULL: none waits. */
struct period *graph_queue_take(struct graph_queue *queue);
/* The period that was taken last is written, and its memory is free. */
void graph_queue_done(struct graph_queue *queue);
void graph_queue_fini(struct graph_queue *queue);

#endif
