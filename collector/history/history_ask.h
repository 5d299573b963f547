// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a query -> the processes or the samples of a store; what is not whole is said
 * units:   nanoseconds since 1970
 * threads: one
 * errors:  negative errno, said on stderr; -ENODATA: nothing fits the query
 * source:  none
 */
#ifndef FG_HISTORY_HISTORY_ASK_H
#define FG_HISTORY_HISTORY_ASK_H

#include "store/store_reader.h"

/* The processes, which the caller ends. None is no error. */
int history_ask_list(const char *dir, const struct store_query *query, struct store_list *ret);

struct history_answer {
	struct store_list list; /* of the processes that are meant */
	struct store_sum sum;
	struct store_reading reading;
};

/* The samples of a range. ret is to be ended after an error too. */
int history_ask_sum(const char *dir, const struct store_query *query, struct history_answer *ret);
void history_answer_fini(struct history_answer *answer);

#define HISTORY_TEXT_BYTES 256u

/* What was asked for, in a few words: "org.example.Main, PID 4711", "3 processes of --pod shop". */
const char *history_say_target(const struct history_answer *answer, const struct store_query *query,
			       char ret[HISTORY_TEXT_BYTES]);
/* "2026-11-26 03:10:00 to 03:15:00" */
const char *history_say_range(const struct store_range *range, char ret[HISTORY_TEXT_BYTES]);

#endif
