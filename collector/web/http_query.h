// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a request for what the store has -> a job of the desk, and its answer as a response
 * units:   none
 * threads: the server's; web_desk.h says which threads call back
 * errors:  -ENOMEM; -E2BIG, -EINVAL: bad parameters
 * source:  libmicrohttpd: MHD_suspend_connection
 *
 * The library's only thread neither reads the store nor waits for who reads: the connection is
 * suspended until its answer is made. A connection that is suspended is not closed, so its
 * descriptor can be asked whether the client is still there.
 */
#ifndef FG_WEB_HTTP_QUERY_H
#define FG_WEB_HTTP_QUERY_H

#include "lazy/lazy_microhttpd.h"
#include "web/web_desk.h"

struct http_query; /* opaque */

/* Makes a query of the connection's parameters. fd: the connection's. */
int http_query_new(struct MHD_Connection *connection, enum web_what what, int fd, uint64_t peer,
		   struct http_query **ret);
/*
 * Suspends the connection and gives the query to the desk. The library resumes the request later.
 */
void http_query_begin(struct http_query *query, struct web_desk *desk);
/* The query's answer, to be taken over; to be asked for when the request is resumed. */
struct web_answer *http_query_answer(struct http_query *query);
void http_query_free(struct http_query *query); /* NULL is legal */

#endif
