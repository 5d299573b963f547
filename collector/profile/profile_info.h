// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the facts of a profile beside its samples: host, time, event, quality
 * units:   those in the names; 0 or "": not known
 * threads: any, a value
 * errors:  none
 * source:  none
 *
 * The texts are borrowed while the info is used. They come from outside, so each output format
 * cleans them. Processes, their containers and their JVMs are in the timeline.
 */
#ifndef FG_PROFILE_PROFILE_INFO_H
#define FG_PROFILE_PROFILE_INFO_H

#include "profile/profile.h"

struct profile_info {
	const char *host;    /* the host's name */
	const char *boot_id; /* the kernel's random ID of this boot of the host */
	const char *kernel;  /* release, as uname -r */
	const char *event;   /* cpu-clock, cycles, ... */
	const char *program; /* the program that made the profile, with its version */
	unsigned hz;
	uint64_t start_unix_ns; /* wall clock */
	uint64_t duration_ns;
	struct profile_quality quality;
	/* names of the reasons in quality.truncated_samples; NULL: not used */
	const char *reasons[PROFILE_REASONS];
};

#endif
