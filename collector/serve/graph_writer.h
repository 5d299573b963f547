// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   periods that are over -> files in a directory, by a thread of its own
 * units:   bytes, counts
 * threads: any for all but close; the thread owns what it has taken
 * errors:  said on stderr, once a period; counted by file
 * source:  none
 *
 * A disk may be slow, full, or away: the model's thread never waits for it. What waits to be
 * written has at most GRAPH_WRITER_MAX_BYTES; a period for which there is no room is counted as
 * dropped, graph by graph.
 */
#ifndef FG_SERVE_GRAPH_WRITER_H
#define FG_SERVE_GRAPH_WRITER_H

#include "live/daemon_stats.h"
#include "live/period.h"
#include "render/render.h"

/* Room for one whole period while another is being written. */
#define GRAPH_WRITER_MAX_BYTES (2 * PERIOD_MAX_BYTES + (32u << 20))

struct graph_writer_options {
	const char *dir; /* copied by open, as all texts here */
	enum render_format format;
	uint64_t keep_sec, keep_bytes;
	unsigned hz;
	const char *event, *host, *kernel;
};

struct graph_writer; /* opaque */

int graph_writer_open(const struct graph_writer_options *options, struct graph_writer **ret);
/* Takes the period over. */
void graph_writer_take(struct graph_writer *writer, struct period *period);
void graph_writer_stats(struct graph_writer *writer, struct graph_writer_stats *ret);
/*
 * Writes what waits, for at most patience_ns; a thread that hangs in its disk is left behind, with
 * the writer. NULL is legal.
 */
void graph_writer_close(struct graph_writer *writer, uint64_t patience_ns);

#endif
