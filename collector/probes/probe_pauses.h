// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   stretches of time with too many hits, and the pauses behind them -> weights of samples
 * units:   CLOCK_MONOTONIC nanoseconds, hits a second
 * threads: the model's
 * errors:  the oldest pause is forgotten where there are too many; its samples weigh too little
 *          then
 * source:  none
 *
 * The samples of a stretch stand for the pause too. A zero-filled struct is valid.
 */
#ifndef FG_PROBES_PROBE_PAUSES_H
#define FG_PROBES_PROBE_PAUSES_H

#include "sample/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_PAUSES_MOST_HZ 20000u
#define PROBE_PAUSES_MAX_NS  UINT64_C(2000000000)
#define PROBE_PAUSES_KEPT    2048

struct probe_pause {
	pid_t pid;
	uint64_t from_ns, to_ns; /* the stretch before */
	uint64_t pause_ns;
};

struct probe_pauses {
	struct probe_pause kept[PROBE_PAUSES_KEPT]; /* a ring */
	uint64_t count;				    /* in all */
};

/* So long a pause brings the hits of stretch and pause down to as many as may be. */
uint64_t probe_pauses_length(uint64_t stretch_ns, uint64_t hits);
void probe_pauses_add(struct probe_pauses *pauses, const struct probe_pause *pause);
/* The weight of a sample of a park or an exception; no pause goes on past end_ns. */
uint64_t probe_pauses_weight(const struct probe_pauses *pauses, const struct record *record,
			     uint64_t end_ns);
/* Whether the record is a park that began before a pause and ended behind its begin. */
bool probe_pauses_are_spanned(const struct probe_pauses *pauses, const struct record *record);

#endif
