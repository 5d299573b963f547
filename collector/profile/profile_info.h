// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what is known of a profile beside its samples: where, when, how, and how well
 * units:   as the names say; 0 or "" is not known
 * threads: any, a value
 * errors:  none
 * source:  none
 *
 * Texts are borrowed for as long as the info is used, and come from outside: a format cleans them.
 * Processes, their containers and JVMs are the timeline's.
 */
#ifndef FG_PROFILE_PROFILE_INFO_H
#define FG_PROFILE_PROFILE_INFO_H

#include "profile/profile.h"

struct profile_info {
	const char *host;    /* its name */
	const char *boot_id; /* the kernel's own word for the time since the host was started */
	const char *kernel;  /* release, as uname -r */
	const char *event;   /* cpu-clock, cycles, ... */
	const char *program; /* that made it, with its version */
	unsigned hz;
	uint64_t start_unix_ns; /* wall clock */
	uint64_t duration_ns;
	struct profile_quality quality;
	const char *reasons[PROFILE_REASONS]; /* of truncated_samples; NULL: not used */
};

#endif
