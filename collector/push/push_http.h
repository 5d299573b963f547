// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bodies -> POST requests to a target, several at a time, and how each ended
 * units:   nanoseconds
 * threads: one at a time; any for wake
 * errors:  in the reply
 * source:  libcurl; OTLP/HTTP; Pyroscope: X-Scope-OrgID
 *
 * Each request has a connection of its own: on a connection that is used again libcurl itself sends
 * a request a second time when the server ends the connection, and the server may have taken the
 * first. Redirections are not followed. Proxies are those of the environment (https_proxy,
 * no_proxy).
 *
 * Files of credentials are read before each request. When one of them or of the certificates has
 * changed, nothing of earlier connections is used again.
 *
 * Whatever the server does, a request ends after timeout_sec, and an answer has 1 MiB.
 */
#ifndef FG_PUSH_PUSH_HTTP_H
#define FG_PUSH_PUSH_HTTP_H

#include "encode/bytes.h"
#include "push/push_config.h"
#include "push/push_fate.h"

#include <stdbool.h>

#define PUSH_HTTP_REQUESTS 16 /* under way at a time */

struct push_http; /* opaque */

/* target is borrowed. */
int push_http_open(const struct push_target *target, struct push_http **ret);
void push_http_close(struct push_http *http); /* NULL is legal */

/*
 * Starts a request. body is borrowed until the request has ended; NULL: the server is asked whether
 * it is ready, by GET. owner is given back then. On an error there is no request, and ret says why.
 */
int push_http_start(struct push_http *http, const struct bytes *body, void *owner,
		    struct push_reply *ret);
/*
 * Waits until a request has ended, so long, or until the next wake. False: none has, and there may
 * be something to do. A request that was started is not heard of unless this is called.
 */
bool push_http_wait(struct push_http *http, uint64_t for_ns, void **ret_owner,
		    struct push_reply *ret);
/* Ends a request that is under way, at once. False: none is. */
bool push_http_abandon(struct push_http *http, void **ret_owner, struct push_reply *ret);
/* Has a wait end, or the next one, if none is under way. */
void push_http_wake(struct push_http *http);

#endif
