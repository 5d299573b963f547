// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   struct selector <-> the members of a request to the daemon
 * units:   none
 * threads: any
 * errors:  -EINVAL: a member is no text, or cannot be a part of a selector
 * source:  none
 */
#ifndef FG_SERVE_SELECTOR_JSON_H
#define FG_SERVE_SELECTOR_JSON_H

#include "process/selector.h"

#include <jansson.h>

/* Parts that are not set are left out. */
void selector_to_json(const struct selector *selector, json_t *object);
int selector_from_json(const json_t *object, struct selector *ret);

#endif
