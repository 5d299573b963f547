// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an event of a JVM's code -> an entry of a published message, and back
 * units:   bytes, little-endian; CLOCK_MONOTONIC nanoseconds of the collector
 * threads: any
 * errors:  publish_entry_next: -EBADMSG
 * source:  docs/publish.md, shared/README.md
 *
 * An entry is the agent's record as it came, and in front of the record what a subscriber cannot
 * know of it: whose it is, and how the collector has named the code. Records name a method once on
 * a connection, so a subscriber that came later could not name the code by records alone.
 */
#ifndef FG_PUBLISH_PUBLISH_ENTRY_H
#define FG_PUBLISH_PUBLISH_ENTRY_H

#include "code/code_map.h"
#include "encode/bytes.h"
#include "shared/wire.h"

#include <stdint.h>
#include <sys/types.h>

#define PUBLISH_ENTRY_HEAD_BYTES 42
#define PUBLISH_RECORD_MOST	 (48u << 10) /* a longer record is left out of its entry */

enum publish_code {
	PUBLISH_NO_CODE, /* the event is no load */
	PUBLISH_STUB,
	PUBLISH_JAVA,
	PUBLISH_OSR,
	PUBLISH_NATIVE_WRAPPER,
};

enum publish_text {
	PUBLISH_NAME, /* as in perf maps */
	PUBLISH_CLASS,
	PUBLISH_METHOD,
	PUBLISH_SIGNATURE,
	PUBLISH_SOURCE,
	PUBLISH_TEXTS,
};

#define PUBLISH_CUT 1 /* flag: the record was too long, and is its header alone, with length 0 */

struct publish_entry {
	pid_t pid;
	uint64_t start_ticks;
	uint64_t time_ns;
	uint64_t addr; /* 0: the event is not about an address */
	uint32_t size; /* 0: the event is no load */
	uint8_t code;  /* enum publish_code */
	uint8_t level; /* CODE_LEVEL_UNKNOWN unless it is compiled Java */
	uint16_t flags;
	struct wire_str texts[PUBLISH_TEXTS]; /* UTF-8; empty where nothing is known */
	struct wire_record record;
};

/*
 * Sets what a load tells: address, size, kind and texts. The texts are borrowed from the range and
 * from name, which has room for CODE_NAME_MAX_BYTES.
 */
void publish_entry_set_range(struct publish_entry *entry, const struct code_range *range,
			     char *name);

/* Appends the entry to out. Returns whether the record was too long for it. */
bool publish_entry_encode(const struct publish_entry *entry, struct bytes *out);

/* Returns 1 and the entry, which points into data; 0 at the end; -EBADMSG. *pos starts at 0. */
int publish_entry_next(const void *data, size_t len, size_t *pos, struct publish_entry *ret);

#endif
