// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an index and a range of time -> the processes of which there are samples
 * units:   nanoseconds since 1970, bytes, weights of kinds
 * threads: one at a time
 * errors:  negative errno as store_index.h; rows past STORE_MAX_ROWS are counted
 * source:  none
 *
 * Texts of the index may be anybody's: in a list they are clean and bounded.
 */
#ifndef FG_STORE_STORE_LIST_H
#define FG_STORE_STORE_LIST_H

#include "base/arena.h"
#include "profile/profile_kind.h"
#include "store/store_index.h"
#include "store/store_process.h"
#include "store/store_sum.h"

#define STORE_MAX_ROWS	 100000u
#define STORE_TEXT_BYTES 512u

struct store_row_kind {
	const char *name, *unit;
	uint64_t samples, unnamed, unrooted; /* of all segments that the range touches */
};

struct store_row {
	struct store_process process;
	uint64_t first_ns, last_ns; /* start of the first segment, end of the last one */
	uint64_t segments, bytes;
	struct store_row_kind kinds[PROFILE_MAX_KINDS];
	size_t n_kinds;
};

/* A zero-filled struct is valid and empty. */
struct store_list {
	struct arena texts;
	struct store_row *rows; /* in the order of first_ns */
	size_t n, size;
	uint64_t left_out; /* rows past the limit */
};

int store_list_read(struct store_list *list, const struct store_index *index,
		    const struct store_range *range);
void store_list_fini(struct store_list *list);

/* A time as SQLite's numbers have it. */
int64_t store_list_time(uint64_t ns);

#endif
