// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a load event -> its record with an inline table, in which each method is named once
 * units:   bytes
 * threads: naming_add_load on any thread, the rest on the agent's own
 * errors:  those of the recorder; RECORDER_TOO_LARGE also for a table that finds no room
 * source:  shared/README.md, METHOD_LOAD and its section 1
 *
 * A lock is held from the look-up of IDs until the record is in the buffer, so that no ID comes
 * before its name in the stream. If the record finds no room, all IDs that it would have named are
 * taken back under the lock. The JVM is asked for names under the lock. A thread in a callback
 * counts as native, so no safepoint waits for it. No thread waits for the socket while it holds the
 * lock.
 *
 * Life cycle: after naming_init on a zero-filled struct it is closed and adds nothing. The memory
 * of a connection is borrowed from naming_open to naming_close and must be zero-filled.
 */
#ifndef FGAGENT_NAMING_H
#define FGAGENT_NAMING_H

#include "methods/inline_table.h"
#include "methods/loaded_code.h"
#include "methods/method_ids.h"
#include "methods/method_text.h"
#include "recorder.h"

/* The memory of one connection; pages that are not used cost nothing. */
struct naming_memory {
	struct method_ids ids;
	struct inline_table_memory table;
};

struct naming {
	struct method_reader reader; /* set once before the first event */
	pthread_mutex_t lock;
	struct naming_memory *memory; /* guarded by lock, also its content */
	size_t section_bytes;	      /* limit of one table */
};

enum naming_form {
	NAMING_FULL,  /* names and the inline table */
	NAMING_PLAIN, /* names without an inline table */
	/* names cut so that they fit into any buffer: a cut name is better than none */
	NAMING_CUT,
	NAMING_FORMS,
};

void naming_init(struct naming *naming);
void naming_open(struct naming *naming, struct naming_memory *memory, size_t buffer_bytes);
void naming_close(struct naming *naming);

/*
 * Adds the record of a load event in the given form. Names that the JVM did not tell are counted as
 * WIRE_LOSS_JVMTI.
 */
enum recorder_result naming_add_load(struct naming *naming, struct recorder *recorder,
				     uint16_t flags, const struct loaded_code *code,
				     enum naming_form form);

/* Cuts s to a length that fits into any buffer. */
void naming_shorten(struct wire_str *s);

#endif
