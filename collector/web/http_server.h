// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   published metrics, and a store -> answers to GET /metrics, /healthz, / and /api/v1/
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one of its own for each address answers; all other threads call the functions here
 * errors:  negative errno, said on stderr
 * source:  libmicrohttpd's manual; the Prometheus exposition format
 *
 * The server is libmicrohttpd's and not libnng's: the server of libnng 1.5 limits neither
 * connections nor their time, so clients that send nothing could take all descriptors of the daemon
 * for ever. libmicrohttpd has both limits, but has everybody wait to be accepted once its number of
 * connections is there. http_places.h says which connection goes instead, so that the library
 * always accepts. A connection also goes after HTTP_SILENCE_SEC without bytes, and when
 * http_server_expire finds it past its time, however busy. A request has at most
 * HTTP_MAX_REQUEST_BYTES. Methods other than GET and HEAD are refused, and so are requests for
 * other hosts than http_hosts.h knows. http_access.h says who may see the store, and web_desk.h has
 * its threads answer.
 */
#ifndef FG_WEB_HTTP_SERVER_H
#define FG_WEB_HTTP_SERVER_H

#include "base/counters.h"
#include "web/http_hosts.h"
#include "web/http_listen.h"
#include "web/web_desk.h"

#include <stddef.h>
#include <stdint.h>

#define HTTP_MAX_ADDRESSES 4

/* /healthz fails when nothing has been published for this time. */
#define HTTP_STALE_NS UINT64_C(15000000000)

struct http_server; /* opaque */

struct http_stats {
	uint64_t scrapes;     /* answers with metrics */
	uint64_t refused;     /* requests with another method or path, or with two Host headers */
	uint64_t misdirected; /* requests for another host */
	uint64_t evicted;     /* connections ended because others needed their place */
	uint64_t expired;     /* connections ended because they lasted too long */
	uint64_t unfinished;  /* connections that ended without a whole request */
	uint64_t connections, open;
	uint64_t denied;  /* requests of those who may not look, or from other sites */
	uint64_t crowded; /* connections ended because their answers had the room of others */
	struct web_stats web;
};
extern const struct counters http_counters;

/* Texts and hosts are copied. */
struct http_server_options {
	const struct http_address *addresses; /* where the server listens */
	size_t n_addresses;		      /* HTTP_MAX_ADDRESSES at most */
	const struct http_hosts *hosts;
	const char *cert, *key; /* files, for TLS but at Unix sockets; NULL: without */
	const char *client_ca;	/* a file, or NULL */
	const char *token_file; /* or NULL */
	const char *store_dir;	/* NULL: there is no store */
	uint64_t window_ns;	/* of the store */
	uint64_t max_bytes;	/* of answers, and of what is made on the way to them */
};

int http_server_open(const struct http_server_options *options, struct http_server **ret);
void http_server_close(struct http_server *server); /* NULL is legal */

/*
 * An address of the server as the beginning of a URL, "http://127.0.0.1:9464"; or "unix:/a/path".
 * NULL: there are no more.
 */
const char *http_server_url(const struct http_server *server, size_t which);

/*
 * Publishes text, which the server owns from here on (made by malloc), and proves that the daemon's
 * loop runs. text NULL: the metrics stay as they were. trouble: why the daemon is not healthy, a
 * static text; NULL: it is.
 */
void http_server_publish(struct http_server *server, char *text, size_t len, const char *trouble);
void http_server_set_max_bytes(struct http_server *server, uint64_t max_bytes);
/* Ends connections whose time is over, see http_places.h. To be called about once a second. */
void http_server_expire(struct http_server *server, uint64_t now_ns);
void http_server_stats(struct http_server *server, struct http_stats *ret);

#endif
