// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   which stacks of threads that wait are wanted <-> members of a JSON object
 * units:   none
 * threads: any
 * errors:  -EINVAL: the object is not such a wish
 * source:  none
 *
 *   states       a list of "running", "runnable" and "blocked"; empty or missing: all
 *   idle         "hidden" or "shown"; missing: as the format has it
 *   idle_frames  a list of at most WAITS_MAX_FRAMES patterns, or missing
 */
#ifndef FG_SERVE_WAITS_JSON_H
#define FG_SERVE_WAITS_JSON_H

#include "profile/waits.h"

#include <jansson.h>

void waits_to_json(const struct wait_options *options, json_t *object);
/* The texts of ret are those of object. */
int waits_from_json(const json_t *object, struct wait_options *ret);

#endif
