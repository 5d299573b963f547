// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the bytes of a pprof profile -> the frames of each location, and the kinds of samples
 * units:   none
 * threads: one at a time
 * errors:  negative errno; reason is a static text that explains it
 * source:  proto/pprof.proto
 *
 * The tables of a profile may come after the samples that need them, so the tables are read first.
 * The bytes are borrowed from the caller; names are copied.
 */
#ifndef FG_IMPORT_PPROF_TABLES_H
#define FG_IMPORT_PPROF_TABLES_H

#include "base/intern.h"
#include "base/map64.h"
#include "import/pprof_kinds.h"
#include "symbolize/frame.h"

#include <pb_decode.h>
#include <stddef.h>
#include <stdint.h>

#define PPROF_TABLES_MAX_ITEMS (1u << 24) /* limit of texts, of functions, of lines, ... */
#define PPROF_TABLES_MAX_NAME  ((size_t)64 << 10)

/* A position in the bytes; streams over the same bytes share it. */
struct pprof_cursor {
	const unsigned char *at;
};

/* A stream over data. cursor always has the stream's position. */
pb_istream_t pprof_stream(struct pprof_cursor *cursor, const unsigned char *data, size_t len);

struct pprof_array {
	void *items;
	uint32_t count;
	uint32_t size;
};

struct pprof_frames {
	const struct frame *frames; /* innermost first */
	size_t count;		    /* at least 1 */
};

struct pprof_tables {
	struct pprof_cursor cursor;
	struct pprof_array texts, types, mappings, functions, locations, lines;
	struct map64 mapping_ids, function_ids, location_ids; /* ID -> index + 1 */
	struct intern names;
	struct frame *frames; /* the frames of all locations */
	int64_t default_type;
	/* when the profile was begun, and how long it took; 0: not known */
	int64_t start_unix_ns, duration_ns;
	int64_t period, period_type, period_unit; /* as in the file; the latter are texts */
	uint64_t cpu_period_ns; /* processor time between two samples; 0: not known */
	struct pprof_kinds kinds;
	uint32_t value_count; /* number of values that a sample must have */
	int err;
	const char *reason;
};

int pprof_tables_init(struct pprof_tables *tables, const unsigned char *data, size_t len);
void pprof_tables_fini(struct pprof_tables *tables);

/* The text of that number, terminated; NULL: there is none, and the reason is set. */
const char *pprof_tables_text(struct pprof_tables *tables, int64_t number);

/* The frames of a location; -EINVAL if there is none with that ID. */
int pprof_tables_find(const struct pprof_tables *tables, uint64_t location_id,
		      struct pprof_frames *ret);

#endif
