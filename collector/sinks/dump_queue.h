// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   lines -> a descriptor, written by a thread of its own
 * units:   bytes, nanoseconds
 * threads: the model's
 * errors:  negative errno; lines for which there is no room, or that cannot be written, are counted
 * source:  none
 *
 * Whoever reads the lines may stop reading them. Then there is soon no room for more, and these are
 * lost: the caller never waits. Where lines are missing, a line says how many.
 */
#ifndef FG_SINKS_DUMP_QUEUE_H
#define FG_SINKS_DUMP_QUEUE_H

#include "base/counters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DUMP_QUEUE_BYTES ((size_t)4 << 20) /* that wait, and as many that are being written */

struct dump_queue_stats {
	uint64_t lines; /* that were given to the queue */
	uint64_t lost;	/* of these */
};
extern const struct counters dump_queue_counters;

struct dump_queue; /* opaque */

/* fd is borrowed, also by a thread that dump_queue_close leaves behind. */
int dump_queue_new(int fd, size_t max_bytes, struct dump_queue **ret);
/* The line has no end of its own. */
void dump_queue_add(struct dump_queue *queue, const char *line, size_t len);
void dump_queue_stats(struct dump_queue *queue, struct dump_queue_stats *ret);
/*
 * Waits until all has been written, or nothing more has been for so long. Then the thread is left
 * to itself, and false is returned. NULL is legal.
 */
bool dump_queue_close(struct dump_queue *queue, uint64_t wait_ns);

#endif
