// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the profile of one kind of samples, with its times and facts: a part of a recording
 * units:   those of the kind
 * threads: any, a value
 * errors:  none
 * source:  none
 *
 * A recording of several kinds is several parts. Their profiles are independent of each other: each
 * has its own tree, timeline, event, rate and quality. Of the quality, counts of samples in the
 * tree are weights of the kind; lost and stackless samples are counted one by one.
 */
#ifndef FG_PROFILE_PROFILE_PART_H
#define FG_PROFILE_PROFILE_PART_H

#include "profile/profile.h"
#include "profile/profile_info.h"
#include "profile/profile_kind.h"
#include "profile/timeline.h"

#define PROFILE_PART_BYTES 320u

/* All members are borrowed. */
struct profile_part {
	const struct profile_kind *kind;
	const struct profile *profile;
	const struct timeline *timeline; /* sorted, of profile; NULL: there is none */
	const struct profile_info *info; /* NULL: there are no facts beside the samples */
};

/*
 * The processor time in nanoseconds that a sample of the event stands for. 0: not known, or samples
 * of the event are taken after so many events and not after so much time. event NULL or "": one
 * that measures time.
 */
uint64_t profile_cpu_period_ns(const char *event, unsigned hz);

#define PROFILE_CORES_BYTES 64u
/*
 * Processor time for people: "1.60 s, 0.11 cores"; without a length "1.60 s". "" if it is 0.
 * Returns ret.
 */
const char *profile_cores_text(uint64_t cpu_ns, uint64_t length_ns, char ret[PROFILE_CORES_BYTES]);

/*
 * How much there is of the kind: "64.0 s of wall at 20 Hz in 10.0 s", "158 samples of cpu-clock at
 * 99 Hz in 15.0 s: 1.60 s, 0.11 cores". What is not known is left out. Returns ret.
 */
const char *profile_part_text(const struct profile_part *part, char ret[PROFILE_PART_BYTES]);

#endif
