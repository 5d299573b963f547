// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a living code range -> an entry, whose record an agent could have sent in a resync
 * units:   bytes
 * threads: any
 * errors:  false
 * source:  shared/README.md
 */
#ifndef FG_ANNOUNCE_PUBLISH_RANGE_H
#define FG_ANNOUNCE_PUBLISH_RANGE_H

#include "code/code_name.h"
#include "publish/publish_entry.h"

#define PUBLISH_RECORD_BYTES 8192u	  /* of a range: four texts of at most 1,024 bytes */
#define PUBLISH_LOOKED_AT    (16u * 1024) /* places of a code map in a turn */

/* What an entry points to. */
struct publish_range_room {
	char name[CODE_NAME_MAX_BYTES];
	uint8_t record[PUBLISH_RECORD_BYTES];
};

/* Sets all but whose the range is. False: the record has no room. */
bool publish_range_set(struct publish_entry *entry, const struct code_range *range,
		       struct publish_range_room *room);
/* The record that was encoded, borrowed. */
struct wire_record publish_range_record(const struct wire_buf *buf);

#endif
