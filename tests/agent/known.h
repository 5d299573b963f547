// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   METHOD_LOAD records of one connection -> loads whose IDs are resolved to names
 * units:   bytes from the code's address
 * threads: one
 * errors:  -EBADMSG for a broken table, -ENOENT for an ID that nobody has named
 * source:  shared/README.md, METHOD_LOAD and its section 1
 *
 * What collectors remember of a connection, as plainly as a test can have it: nothing is forgotten
 * before known_clear. Zero-filled it knows nothing.
 */
#ifndef KNOWN_H
#define KNOWN_H

#include "shared/wire.h"

#define KNOWN_DEPTH_MAX 64

struct known_method {
	struct known_method *next;
	uint32_t id, how; /* when it was named */
	char *class_sig, *name, *sig, *source_file;
	uint32_t n_lines;
	struct wire_line first, last;
};

struct known_region {
	uint32_t end, depth;
	struct wire_inline_frame frames[KNOWN_DEPTH_MAX]; /* outermost first */
};

/* Valid until the next known_take. Method i was named here unless hows[i] is KNOWN. */
struct known_load {
	struct wire_method_load load; /* with its names, however they were told */
	bool has_table;
	uint32_t section_bytes;
	uint32_t n_methods;
	struct known_method **methods;
	uint8_t *hows;
	uint32_t n_regions;
	struct known_region *regions;
};

struct known {
	struct known_method *all;
	struct known_method *by_id[WIRE_METHOD_ID_MAX + 1];
	struct known_load load;
};

int known_take(struct known *known, const struct wire_record *record, struct known_load **ret);
void known_clear(struct known *known);

#endif
