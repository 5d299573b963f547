// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a request -> whether who sends it may see what the store has
 * units:   none
 * threads: the server's, for requests; any sets up
 * errors:  negative errno, said on stderr
 * source:  RFC 7617 (Basic), RFC 6750 (Bearer), RFC 5280 (client certificates); Fetch metadata:
 *          Sec-Fetch-Site
 *
 * Metrics are for everybody who can reach the server. The page and the store are so too over
 * loopback and over a Unix socket, whose mode says who can reach it. With a token or a CA for
 * certificates of clients, whoever shows one of them may look, and nobody else; elsewhere than on
 * loopback nobody may look without. Over a Unix socket no certificate can be shown, so that a CA
 * alone asks for none there.
 */
#ifndef FG_WEB_HTTP_ACCESS_H
#define FG_WEB_HTTP_ACCESS_H

#include "lazy/lazy_microhttpd.h"
#include "web/http_token.h"

#include <stdbool.h>

enum http_verdict {
	HTTP_ALLOWED,
	HTTP_ASKED,	/* for a token: 401 */
	HTTP_FORBIDDEN, /* 403: there is no token that could be shown */
	HTTP_UNCERTAIN, /* 403: a certificate is needed */
	HTTP_CROSS,	/* 403: a page of another site asks */
};

struct http_access {
	bool has_token;
	bool has_ca; /* whose certificates clients may show */
	struct http_token token;
};

/* What a request shows, as far as verdicts need it. */
struct http_shown {
	bool is_local;		/* it came over loopback or a Unix socket */
	bool is_tls;		/* a certificate can be shown */
	const char *token;	/* NULL: none */
	bool has_certificate;	/* that the CA has signed */
	const char *fetch_site; /* the header Sec-Fetch-Site; NULL: none */
};

/* is_data: the request is for what the store has, and not for the page itself. */
enum http_verdict http_access_judge(struct http_access *access, const struct http_shown *shown,
				    bool is_data);
/* is_local: of the address that the request came to. */
enum http_verdict http_access_check(struct http_access *access, struct MHD_Connection *connection,
				    bool is_local, bool is_data);

/* A sentence that says what to do; NULL for HTTP_ALLOWED. */
const char *http_access_say(enum http_verdict verdict);

#endif
