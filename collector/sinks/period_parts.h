// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a graph of a period, and what holds for all graphs -> parts, as they are written
 * units:   those of the kinds
 * threads: one at a time
 * errors:  -ENOMEM
 * source:  none
 */
#ifndef FG_SINKS_PERIOD_PARTS_H
#define FG_SINKS_PERIOD_PARTS_H

#include "profile/profile_part.h"
#include "sinks/period.h"

#include <stdbool.h>

/* What holds for all graphs of a daemon. */
struct period_facts {
	unsigned hz, wall_hz;
	const char *event, *host, *kernel, *boot_id;
	const char *program; /* a literal */
};

struct period_parts {
	struct profile_part parts[SAMPLE_KINDS]; /* borrowed from the graph and from infos */
	struct profile_info infos[SAMPLE_KINDS];
	size_t n;
};

/* Copies the texts, for a thread that may outlive their owners. */
int period_facts_copy(struct period_facts *facts);
/* Frees texts that were copied. */
void period_facts_free(struct period_facts *facts);

/*
 * Makes the parts of a graph, and sorts their times. The texts of facts are borrowed. with_empty:
 * kinds without samples are there too.
 */
void period_parts_make(struct period_parts *parts, const struct period_facts *facts,
		       const struct period *period, struct period_graph *graph, bool with_empty);

#endif
