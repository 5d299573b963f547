// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   periods that are over -> files in a directory, written by a thread of its own
 * units:   bytes, counts
 * threads: any for all functions but graph_writer_close; the thread owns the periods
 * errors:  said on stderr, once a period; counted by file
 * source:  none
 *
 * A disk may be slow, full or gone: the model's thread never waits for the disk. Periods that wait
 * to be written take at most GRAPH_WRITER_MAX_BYTES; the graphs of a period without room are
 * counted as dropped.
 */
#ifndef FG_SERVE_GRAPH_WRITER_H
#define FG_SERVE_GRAPH_WRITER_H

#include "live/daemon_stats.h"
#include "live/period.h"
#include "render/render.h"

/* Room for one whole period while another is being written. */
#define GRAPH_WRITER_MAX_BYTES (2 * PERIOD_MAX_BYTES + (32u << 20))

struct graph_writer_options {
	const char *dir; /* copied by graph_writer_open, like all texts here */
	enum render_format format;
	uint64_t keep_sec, keep_bytes;
	unsigned hz;
	const char *event, *host, *kernel;
};

struct graph_writer; /* opaque */

int graph_writer_open(const struct graph_writer_options *options, struct graph_writer **ret);
/* Takes ownership of the period. */
void graph_writer_take(struct graph_writer *writer, struct period *period);
void graph_writer_stats(struct graph_writer *writer, struct graph_writer_stats *ret);
/*
 * Writes the waiting periods, for at most patience_ns. If the disk then still holds up the thread,
 * the thread and the writer are abandoned. NULL is legal.
 */
void graph_writer_close(struct graph_writer *writer, uint64_t patience_ns);

#endif
