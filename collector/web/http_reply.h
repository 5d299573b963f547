// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   texts and answers -> responses of libmicrohttpd
 * units:   bytes
 * threads: any
 * errors:  NULL, or MHD_NO: there is no memory, and the connection ends
 * source:  RFC 9110, RFC 6266 (Content-Disposition), Fetch (nosniff), Referrer Policy
 *
 * Each response ends its connection, so that nobody has a place without asking.
 */
#ifndef FG_WEB_HTTP_REPLY_H
#define FG_WEB_HTTP_REPLY_H

#include "lazy/lazy_microhttpd.h"
#include "web/web_answer.h"

#define HTTP_TYPE_TEXT "text/plain; charset=utf-8"

/* A response of a text, which it owns from here on (made by malloc). */
struct MHD_Response *http_reply_of(char *text, size_t len, const char *type);
/* Answers with a text, which is copied. */
enum MHD_Result http_reply_text(struct MHD_Connection *connection, unsigned status,
				const char *text);
/* Answers with {"error": text}. */
enum MHD_Result http_reply_error(struct MHD_Connection *connection, unsigned status,
				 const char *text);
/* Answers with the answer, which is taken over. */
enum MHD_Result http_reply_answer(struct MHD_Connection *connection, struct web_answer *answer);

/* The page; NULL: there is no memory. */
struct MHD_Response *http_reply_page(void);

#endif
