// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   periods that are over -> files in a directory, written by a thread of its own
 * units:   bytes, counts
 * threads: any for all functions but graph_writer_close; the thread owns the periods
 * errors:  said on stderr, once a period; counted by file
 * source:  none
 *
 * A disk may be slow, full or gone: the model's thread never waits for the disk. Graphs that wait
 * to be written take at most GRAPH_WRITER_MAX_BYTES. Containers, and users of the host, share these
 * bytes (guard/fair.h). When there is no room, the graphs of those who have most are dropped and
 * counted, the oldest first.
 */
#ifndef FG_SERVE_GRAPH_WRITER_H
#define FG_SERVE_GRAPH_WRITER_H

#include "base/counters.h"
#include "sinks/period_parts.h"
#include "sinks/period.h"
#include "render/render.h"

/* Room for one whole period while another is being written. */
#define GRAPH_WRITER_MAX_BYTES (2 * PERIOD_MAX_BYTES + (32u << 20))

struct graph_writer_options {
	const char *dir; /* copied by graph_writer_open, like all texts here */
	enum render_format format;
	uint64_t keep_sec, keep_bytes;
	struct period_facts facts;
	size_t max_bytes; /* of graphs that wait; 0: GRAPH_WRITER_MAX_BYTES */
};

struct graph_writer; /* opaque */

struct graph_writer_stats {
	uint64_t written, failed, dropped; /* graphs */
	uint64_t removed;		   /* files removed because of the limits */
	uint64_t files, file_bytes;	   /* now in the directory */
	uint64_t waiting_bytes;		   /* memory of graphs that wait */
	uint64_t list_bytes;		   /* memory of the list of files */
};
extern const struct counters graph_writer_counters;

int graph_writer_open(const struct graph_writer_options *options, struct graph_writer **ret);
/* Takes ownership of the period. May drop graphs of it, or of those that wait. */
void graph_writer_take(struct graph_writer *writer, struct period *period);
/* Sets the limit of graphs that wait; the next graphs that are taken make room. */
void graph_writer_set_max_bytes(struct graph_writer *writer, size_t bytes);
void graph_writer_stats(struct graph_writer *writer, struct graph_writer_stats *ret);
/*
 * Writes the waiting periods, for at most patience_ns. If the disk then still holds up the thread,
 * the thread and the writer are abandoned. NULL is legal.
 */
void graph_writer_close(struct graph_writer *writer, uint64_t patience_ns);

#endif
