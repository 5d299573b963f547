// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a text that is published -> answers to GET /metrics and /healthz
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one of its own answers, from texts that never change; all others call what is here
 * errors:  negative errno, said on stderr
 * source:  libmicrohttpd's manual; the Prometheus exposition format
 *
 * It is libmicrohttpd's, not libnng's: the server of libnng 1.5 has no limit of connections and
 * none of time, so that clients that send nothing take all descriptors of the daemon, for ever.
 * Here are at most HTTP_MAX_CONNECTIONS, none lives longer than HTTP_MAX_AGE_NS however busy it is,
 * a request has at most HTTP_MAX_REQUEST_BYTES, and methods other than GET are refused.
 */
#ifndef FG_SERVE_HTTP_SERVER_H
#define FG_SERVE_HTTP_SERVER_H

#include "live/daemon_stats.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define HTTP_MAX_CONNECTIONS   64
#define HTTP_MAX_REQUEST_BYTES 8192
#define HTTP_SILENCE_SEC       5
#define HTTP_MAX_AGE_NS	       UINT64_C(10000000000)
/* The daemon is not healthy when nothing has been published for so long. */
#define HTTP_STALE_NS UINT64_C(15000000000)

struct http_server; /* opaque */

int http_server_open(const struct sockaddr_storage *addr, struct http_server **ret);
void http_server_close(struct http_server *server); /* NULL is legal */

/* The address it listens on, as a URL's beginning: "http://127.0.0.1:9464". */
const char *http_server_url(const struct http_server *server);

/* Takes the metrics, which free frees, and says that the loop turns. trouble: a text that stays. */
void http_server_publish(struct http_server *server, char *text, size_t len, const char *trouble);
/* Ends connections that are too old; to be called about once a second. */
void http_server_expire(struct http_server *server, uint64_t now_ns);
void http_server_stats(struct http_server *server, struct http_stats *ret);

#endif
