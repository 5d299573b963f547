// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a load event -> its record with an inline table, in which each method is named once
 * units:   bytes
 * threads: naming_add_load on any, the rest on the agent's own
 * errors:  as the recorder's; RECORDER_TOO_LARGE also for a table that finds no room
 * source:  shared/README.md, METHOD_LOAD and its section 1
 *
 * A lock is held from the look-up of IDs until the record is in the buffer, so that in the stream
 * no ID comes before its name, and given back when the record found no room, together with every
 * ID that it would have named. The JVM is asked for names meanwhile: a thread in a callback counts
 * as native, so that no safepoint waits for it. Nobody waits for the socket with it.
 *
 * Life: zero-filled but for init it is closed, and adds nothing. The memory of one connection is
 * borrowed from naming_open to naming_close and must be zero-filled.
 */
#ifndef FGAGENT_NAMING_H
#define FGAGENT_NAMING_H

#include "methods/inline_table.h"
#include "methods/loaded_code.h"
#include "methods/method_ids.h"
#include "methods/method_text.h"
#include "recorder.h"

/* What a connection needs; pages that are not used cost nothing. */
struct naming_memory {
	struct method_ids ids;
	struct inline_table_memory table;
};

struct naming {
	struct method_reader reader; /* set once, before the first event */
	pthread_mutex_t lock;
	struct naming_memory *memory; /* under lock, as is what it points to */
	size_t section_bytes;	      /* no more than this for one table */
};

enum naming_form {
	NAMING_FULL,  /* with its inline table */
	NAMING_PLAIN, /* names alone */
	NAMING_CUT,   /* names that fit into any buffer: a cut one at a known address beats none */
	NAMING_FORMS,
};

void naming_init(struct naming *naming);
void naming_open(struct naming *naming, struct naming_memory *memory, size_t buffer_bytes);
void naming_close(struct naming *naming);

/* What the JVM did not want to tell is counted here. */
enum recorder_result naming_add_load(struct naming *naming, struct recorder *recorder,
				     uint16_t flags, const struct loaded_code *code,
				     enum naming_form form);

/* Cuts what may be long. */
void naming_shorten(struct wire_str *s);

#endif
