// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a capture notes the questions of, and what it counts
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

/* The stages of which the capture is to know; borrowed. */
struct capture_stages {
	struct table_cache *tables;
	struct unwinder *unwinder;
	struct symbolizer *symbolizer;
	const struct arch *arch; /* of the samples; NULL: this machine's */
};

struct capture_counts {
	uint64_t samples;  /* named samples in the capture */
	uint64_t left_out; /* named samples for which the capture had no room */
	uint64_t bytes;	   /* unzipped */
};

#endif
