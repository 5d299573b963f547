// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an entry -> a line of JSON
 * units:   CLOCK_MONOTONIC nanoseconds, bytes; addresses are texts, "0x7f3a5c001000"
 * threads: any
 * errors:  -EINVAL: the entry's record is of no kind that is published; -ENOMEM
 * source:  docs/publish.md, RFC 8259
 *
 * JSON is UTF-8 whatever a JVM says: texts are cleaned (base/utf8.h). An address is a text because
 * many readers of JSON have numbers of 53 bits.
 */
#ifndef FG_PUBLISH_PUBLISH_JSON_H
#define FG_PUBLISH_PUBLISH_JSON_H

#include "publish/publish_entry.h"

#include <jansson.h>

/* Appends the object and a newline to out. */
int publish_json_line(const struct publish_entry *entry, struct bytes *out);
/* The same of any object, which is taken over; NULL is -ENOMEM. */
int publish_json_put(json_t *object, struct bytes *out);

#endif
