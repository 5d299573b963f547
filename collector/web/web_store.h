// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a query -> the store and its processes as JSON
 * units:   Unix milliseconds; bytes; weights of kinds
 * threads: any, one for each context
 * errors:  negative errno; the reason is logged
 * source:  docs/page.md
 */
#ifndef FG_WEB_WEB_STORE_H
#define FG_WEB_WEB_STORE_H

#include "store/store_reader.h"
#include "web/web_answer.h"
#include "web/web_query.h"

/* What an answer is made of. All is borrowed. */
struct web_context {
	const char *dir;  /* the store's */
	const char *host; /* this host's name, "": not known */
	uint64_t window_ns;
	uint64_t now_ns; /* since 1970 */
	struct store_sum_limits limits;
	bool (*is_over)(void *arg); /* whether nobody waits for the answer any more */
	void *arg;
	struct web_pool *pool;
	const struct log_catch *caught; /* of the thread: what is not whole */
};

#define WEB_MS(ns) ((json_int_t)((ns) / 1000000))

/* The query of a side, with the context's limits. */
struct store_query web_context_query(const struct web_context *context,
				     const struct web_query *query, const struct web_side *side);
/* Opens the store. Why that failed is logged. */
int web_context_open(const struct web_context *context, struct store_reader *ret);

/* What is there at all. */
int web_store_answer(const struct web_context *context, struct web_answer *answer);
/* The processes that the query means, and how much they had when. */
int web_store_answer_processes(const struct web_context *context, const struct web_query *query,
			       struct web_answer *answer);

/* The kind that the rows are shown by: cpu if one of them has it, else the first of the first. */
const struct store_row_kind *web_store_kind(const struct store_list *list, const char *asked);

#endif
