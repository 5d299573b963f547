// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the path and the parameters of a request -> what is asked of the store
 * units:   Unix milliseconds in texts; nanoseconds since 1970
 * threads: one at a time
 * errors:  -ENOENT: no such path; -EINVAL, logged: a parameter is unknown, or its value is bad
 * source:  none
 *
 * Names of parameters are those of the options of history, render and diff. A time is what their
 * --from takes, or milliseconds since 1970 of at least 12 digits. A begin in the future is no
 * error: nothing is there.
 */
#ifndef FG_WEB_WEB_QUERY_H
#define FG_WEB_WEB_QUERY_H

#include "draw/draw_options.h"
#include "store/store_select.h"
#include "web/web_parameters.h"

#define WEB_API		 "/api/v1/"
#define WEB_MAX_KEYS	 512u
#define WEB_MAX_BUCKETS	 1000u
#define WEB_MAX_CELLS	 20000u
#define WEB_MAX_TEXT	 1024u /* bytes of a value */
#define WEB_BUCKETS	 60u
#define WEB_COLUMNS	 240u
#define WEB_ROWS	 50u
#define WEB_LONG_TIME_MS UINT64_C(9000000000000) /* no later time is taken: in the year 2255 */

enum web_what {
	WEB_STORE,
	WEB_PROCESSES,
	WEB_HEAT,
	WEB_GRAPH,
	WEB_DIFF,
};

/* A side: what is compared, or what is asked for. */
struct web_side {
	const char *from, *to; /* NULL: not given */
	pid_t pid;
	struct selector select;
	const char *keys[WEB_MAX_KEYS];
	size_t n_keys;
	struct store_range range;
};

struct web_query {
	enum web_what what;
	struct web_side after, before;
	const char *kind; /* NULL: not given */
	unsigned buckets, columns, rows;
	bool is_reversed;
	struct draw_options draw; /* its format, and how it is drawn */
};

/* What a path asks for. -ENOENT. */
int web_query_what(const char *path, enum web_what *ret);
/* ret borrows the texts of parameters. */
int web_query_parse(enum web_what what, const struct web_parameters *parameters, uint64_t now_ns,
		    struct web_query *ret);
/* A side as the store is asked for it; borrows the side. Limits and is_over are the caller's. */
struct store_query web_query_of(const struct web_query *query, const struct web_side *side);

#endif
