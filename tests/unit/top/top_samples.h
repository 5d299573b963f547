// SPDX-License-Identifier: Apache-2.0
/* Samples for the tests of top: a tree and a timeline made of lines. */
#ifndef FG_TESTS_TOP_SAMPLES_H
#define FG_TESTS_TOP_SAMPLES_H

#include "profile/profile.h"
#include "profile/timeline.h"

struct top_samples {
	struct profile profile;
	struct timeline timeline;
};

void top_samples_init(struct top_samples *samples);
void top_samples_fini(struct top_samples *samples);
/*
 * So many samples of a stack, root first, of a thread of a process. A frame that ends in a suffix
 * is of that kind (_[0] _[1] _[j] _[i] _[k] _[w]), in "[..]" a label, else native. The process has
 * the title "app" and its PID, the thread its TID as name.
 */
void top_samples_add(struct top_samples *samples, int pid, int tid, const char *folded,
		     unsigned weight);

#endif
