// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a query -> how much there was when, without the stacks
 * units:   nanoseconds since 1970; weights of the query's kind
 * threads: one at a time; any number of readers beside the writer
 * errors:  negative errno as store_reader.h; a segment that cannot be read is counted and costs
 *          itself alone
 * source:  none
 *
 * There are two answers. Times of samples, which the files of segments have: a step is a 64th of a
 * second in a window and a quarter in an hour. Of hours the index has sums of five seconds too
 * (store_steps.h), which take a hundredth of the time. And sums of segments, which the index has: a
 * step is a window or an hour, and thousands of them take milliseconds.
 */
#ifndef FG_STORE_STORE_TIMES_H
#define FG_STORE_STORE_TIMES_H

#include "store/store_content.h"
#include "store/store_reader.h"

struct store_times {
	void (*begin)(void *arg); /* forgets what was added: all is read once more */
	store_add_time *add;	  /* gets times in the range alone */
	void *arg;
	/* Times of steps of STORE_STEP_NS are fine enough, where the index has these. */
	bool may_be_coarse;
};

/*
 * Reads the samples of the query's kind, which is needed, of the processes that the query means.
 * *ret_untimed: the weight of samples in segments of the range of which no time is known.
 */
int store_times_read(const struct store_reader *reader, const struct store_query *query,
		     const struct store_times *times, struct store_reading *ret_reading,
		     uint64_t *ret_untimed);

struct store_span {
	uint64_t start_ns, end_ns; /* of a segment, also beyond the range */
	uint64_t weight;
};

typedef void store_add_span(void *arg, const struct store_span *span);

/* Reads the sums of the segments of a process and a kind that the range touches. */
int store_times_read_spans(const struct store_reader *reader, const struct store_range *range,
			   int64_t process, const char *kind, store_add_span *add, void *arg);

#endif
