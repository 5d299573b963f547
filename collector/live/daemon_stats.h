// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a daemon counts of itself, beside what its engine counts
 * units:   counts since the start, unless said otherwise; bytes
 * threads: a value; each owner fills its part
 * errors:  none
 * source:  none
 *
 * The counters are declared below the parts of the daemon that count, because whoever shows the
 * engine's counters shows these with them. All are 0 where no daemon runs.
 */
#ifndef FG_LIVE_DAEMON_STATS_H
#define FG_LIVE_DAEMON_STATS_H

#include <stdbool.h>
#include <stdint.h>

struct graph_writer_stats {
	uint64_t written, failed, dropped; /* graphs */
	uint64_t removed;		   /* files, because of the limits */
	uint64_t files, file_bytes;	   /* that are there */
	uint64_t waiting_bytes;		   /* of memory */
};

struct http_stats {
	uint64_t scrapes; /* answers with metrics */
	uint64_t refused; /* requests: other methods, other paths */
	uint64_t expired; /* connections that were there for too long */
	uint64_t connections, open;
};

struct daemon_stats {
	bool is_sampling;
	unsigned hz;
	uint64_t samples, lost_samples, left_out, processless, stackless_samples;
	uint64_t periods, periods_cut_short;
	uint64_t graphs, graph_bytes; /* of the period that lasts */
	struct graph_writer_stats writer;
	struct http_stats http;
};

#endif
