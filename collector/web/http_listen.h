// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an address, or the path of a Unix socket -> a server of libmicrohttpd that listens there
 * units:   none
 * threads: any; the server has one of its own
 * errors:  negative errno, said on stderr
 * source:  libmicrohttpd's manual; unix(7), tcp(7): TCP_USER_TIMEOUT
 */
#ifndef FG_WEB_HTTP_LISTEN_H
#define FG_WEB_HTTP_LISTEN_H

#include "lazy/lazy_microhttpd.h"
#include "web/http_tls.h"

#include <stdbool.h>
#include <sys/socket.h>

#define HTTP_URL_BYTES	       160
#define HTTP_MAX_REQUEST_BYTES 65536 /* with what the library keeps of each parameter */
#define HTTP_SILENCE_SEC       5

struct http_address {
	struct sockaddr_storage addr;
	const char *unix_path; /* of a socket in place of addr; or NULL */
};

struct http_listen_options {
	const struct http_address *address; /* borrowed during the call */
	const struct http_tls *tls; /* empty: there is no TLS; borrowed while the server runs */
	MHD_AccessHandlerCallback on_request;
	MHD_NotifyConnectionCallback on_connection;
	MHD_RequestCompletedCallback on_answered;
	void *arg; /* of all three */
};

/*
 * Starts the server; ret_url: "http://127.0.0.1:9464", or "unix:/a/path". The mode of a Unix socket
 * is 0600: the daemon's user alone may connect. A socket at which nobody listens is replaced. A
 * path where others could put another socket is refused, see listen_prepare_private.
 */
int http_listen(const struct http_listen_options *options, struct MHD_Daemon **ret,
		char ret_url[HTTP_URL_BYTES]);

/* Whether all who can reach the address are on this host: loopback, or a Unix socket. */
bool http_is_local(const struct http_address *address);

#endif
