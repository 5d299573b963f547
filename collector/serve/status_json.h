// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the status of a recording <-> the daemon's answer
 * units:   as struct recording_status has them
 * threads: any
 * errors:  a member that is missing, or is something else, counts as 0
 * source:  none
 */
#ifndef FG_SERVE_STATUS_JSON_H
#define FG_SERVE_STATUS_JSON_H

#include "recording/recording.h"

#include <jansson.h>

json_t *status_to_json(const struct recording_status *status);
void status_from_json(const json_t *object, struct recording_status *ret);

#endif
