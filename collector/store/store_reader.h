// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a store's directory and a query -> the processes of which there are samples, or the sum
 *          of these samples
 * units:   those of store_list.h and store_sum.h
 * threads: one at a time; any number of readers beside the writer
 * errors:  negative errno as store_index.h; a segment that cannot be read is counted and costs
 *          itself alone
 * source:  none
 *
 * The store may be another host's, half copied, or hostile.
 */
#ifndef FG_STORE_STORE_READER_H
#define FG_STORE_STORE_READER_H

#include "store/store_index.h"
#include "store/store_select.h"
#include "store/store_sum.h"

#define STORE_READER_MESSAGE 256u

struct store_reader {
	struct store_index index;
	int segments_fd; /* -1: there is no such directory */
};

/* What was read for a sum, and what was not. */
struct store_reading {
	uint64_t processes, segments;
	uint64_t missing; /* segments whose file is not there */
	uint64_t damaged; /* segments whose file is no whole recording, or cannot be read */
	char first_damaged[STORE_TEXT_BYTES];
};

/*
 * Counts a segment. err: of reading its file; reason: of the reader of recordings, or NULL. Returns
 * what is not the file's fault: without memory or descriptors a sum would be too small unsaid.
 */
int store_reading_count(struct store_reading *reading, const char *name, int err,
			const char *reason);

/* What there is at all. */
struct store_overview {
	uint64_t first_ns, last_ns; /* 0: there are no samples */
	uint64_t processes, segments, bytes;
	char kinds[PROFILE_MAX_KINDS][PROFILE_KIND_BYTES]; /* cpu is the first, if it is there */
	size_t n_kinds;
};

/* ret_why: why the store cannot be read, in one line; "" if it can. */
int store_reader_open(const char *dir, struct store_reader *ret,
		      char ret_why[STORE_READER_MESSAGE]);
void store_reader_close(struct store_reader *reader);

int store_reader_overview(const struct store_reader *reader, struct store_overview *ret);

/* The processes that the query means. */
int store_reader_list(const struct store_reader *reader, const struct store_query *query,
		      struct store_list *ret);
/* The samples of these processes in the range. ret is to be ended after an error too. */
int store_reader_sum(const struct store_reader *reader, const struct store_query *query,
		     struct store_sum *ret, struct store_reading *ret_reading);

#endif
