// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the stages whose questions a capture notes; the counters of a capture
 * units:   bytes
 * threads: none; plain values
 * errors:  none
 * source:  none
 */
#ifndef FG_CAPTURE_CAPTURE_STAGES_H
#define FG_CAPTURE_CAPTURE_STAGES_H

#include "files/table_cache.h"
#include "symbolize/symbolizer.h"
#include "unwind/unwinder.h"

#include <stdint.h>

/* The stages whose questions the capture notes; borrowed. */
struct capture_stages {
	struct table_cache *tables;
	struct unwinder *unwinder;
	struct symbolizer *symbolizer;
	const struct arch *arch; /* architecture of the samples; NULL: this machine's */
};

struct capture_counts {
	uint64_t samples;  /* named samples in the capture */
	uint64_t left_out; /* named samples for which the capture had no room */
	uint64_t bytes;	   /* size of the capture, unzipped */
};

#endif
