// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the paths at which a socket of --publish listens
 * units:   none
 * threads: a value
 * errors:  none
 * source:  none
 */
#ifndef FG_PUBLISH_PUBLISH_PATHS_H
#define FG_PUBLISH_PUBLISH_PATHS_H

#include <stddef.h>

#define PUBLISH_MAX_PATHS 4

struct publish_paths {
	const char *option; /* that named them, for messages */
	const char *paths[PUBLISH_MAX_PATHS];
	size_t count;
};

#endif
