// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process of the timeline -> what tells it from others for people
 * units:   none
 * threads: any
 * errors:  none
 * source:  container/place_name.h
 */
#ifndef FG_TOP_TOP_OWNER_H
#define FG_TOP_TOP_OWNER_H

#include "profile/timeline.h"

#include <regex.h>
#include <stdbool.h>

#define TOP_OWNER_ID_BYTES 16

/*
 * Writes what stands behind the process's name: nothing if its pod, container or service is in the
 * name and the name is its own, else " " and the first digits of the container's ID, or the PID.
 */
void top_owner_write_id(const struct timeline *timeline, const struct timeline_process *process,
			char ret[TOP_OWNER_ID_BYTES]);

/* Whether the expression finds something in the process's name or in its container's ID. */
bool top_owner_matches(const struct timeline_process *process, const regex_t *regex);

#endif
