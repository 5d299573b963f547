// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a sample's time, and whether tables are being loaded -> whether the sample waits on
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  none
 * source:  none
 *
 * A sample waits for tables of files before it is named without them. All later samples of its
 * recording wait behind it, and the model keeps what they may need. A recording that ends by itself
 * has no next period to be right in: its samples wait on while loads get on. No sample waits longer
 * than PATIENCE_MOST_NS.
 *
 * A zero-filled struct patience is valid.
 */
#ifndef FG_RECORDING_PATIENCE_H
#define FG_RECORDING_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How long a sample waits for tables of files and for mappings, beyond HOLD_NS. No process is
 * forgotten before that.
 */
#define PATIENCE_USUAL_NS UINT64_C(5000000000)
/* The same while loads get on, in a recording that ends by itself. */
#define PATIENCE_MOST_NS UINT64_C(30000000000)
/* The same once the program is to end, which is not to wait for what does not answer. */
#define PATIENCE_LAST_NS UINT64_C(1000000000)

struct patience {
	uint64_t loads;	    /* as last told */
	uint64_t loaded_ns; /* when that number was last another one */
};

struct patience_ask {
	uint64_t time_ns; /* the sample's */
	uint64_t now_ns;  /* the time up to which samples are taken */
	uint64_t loads;	  /* how many loads have ended */
	bool is_loading;  /* a load goes on that is not stuck */
};

/*
 * Whether the sample waits on for loads that get on: one goes on, or one has ended in the last
 * PATIENCE_USUAL_NS. To be called for each sample that is taken, so that ends of loads are seen.
 */
bool patience_lasts(struct patience *patience, const struct patience_ask *ask);

/*
 * How far samples lag, of which the oldest that is held has that time: PATIENCE_USUAL_NS at least
 * and PATIENCE_MOST_NS at most.
 */
uint64_t patience_lag_ns(uint64_t oldest_ns, uint64_t now_ns);

#endif
