// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   published metrics -> answers to GET /metrics and /healthz
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one of its own answers; all other threads call the functions here
 * errors:  negative errno, said on stderr
 * source:  libmicrohttpd's manual; the Prometheus exposition format
 *
 * The server is libmicrohttpd's and not libnng's: the server of libnng 1.5 limits neither
 * connections nor their time, so clients that send nothing could take all descriptors of the daemon
 * for ever. libmicrohttpd has both limits, but has everybody wait to be accepted once its number of
 * connections is there. http_places.h says which connection goes instead, so that the library
 * always accepts. A connection also goes after HTTP_SILENCE_SEC without bytes, and when
 * http_server_expire finds it past its time, however busy. A request has at most
 * HTTP_MAX_REQUEST_BYTES. Methods other than GET are refused, and so are requests for other hosts
 * than http_hosts.h knows.
 */
#ifndef FG_SERVE_HTTP_SERVER_H
#define FG_SERVE_HTTP_SERVER_H

#include "live/daemon_stats.h"
#include "serve/http_hosts.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define HTTP_MAX_REQUEST_BYTES 8192
#define HTTP_SILENCE_SEC       5
/* /healthz fails when nothing has been published for this time. */
#define HTTP_STALE_NS UINT64_C(15000000000)

struct http_server; /* opaque */

/* hosts are copied. */
int http_server_open(const struct sockaddr_storage *addr, const struct http_hosts *hosts,
		     struct http_server **ret);
void http_server_close(struct http_server *server); /* NULL is legal */

/* The server's address as the beginning of a URL: "http://127.0.0.1:9464". */
const char *http_server_url(const struct http_server *server);

/*
 * Publishes text, which the server owns from here on (made by malloc), and proves that the daemon's
 * loop runs. text NULL: the metrics stay as they were. trouble: why the daemon is not healthy, a
 * static text; NULL: it is.
 */
void http_server_publish(struct http_server *server, char *text, size_t len, const char *trouble);
/* Ends connections whose time is over, see http_places.h. To be called about once a second. */
void http_server_expire(struct http_server *server, uint64_t now_ns);
void http_server_stats(struct http_server *server, struct http_stats *ret);

#endif
