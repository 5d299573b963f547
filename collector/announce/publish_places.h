// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   paths of sockets -> directories that exist, and paths that are free
 * units:   none
 * threads: any
 * errors:  negative errno, said on stderr
 * source:  docs/publish.md
 */
#ifndef FG_ANNOUNCE_PUBLISH_PLACES_H
#define FG_ANNOUNCE_PUBLISH_PLACES_H

#include "publish/publish_paths.h"

#include <stdbool.h>

/*
 * See listen_prepare_private. -EINVAL if a path lies in the directory of the agents' socket or in
 * the one in which agents look unless they are told of another, or below: containers have those.
 */
int publish_places_prepare(const struct publish_paths *paths, const char *agent_socket);

/* Whether nothing is at any of the paths. What is there is said on stderr. */
bool publish_places_are_free(const struct publish_paths *paths);

#endif
