// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a request to the daemon -> its answer
 * units:   none
 * threads: one at a time
 * errors:  negative errno; said on stderr, but for -ENOENT: there is no daemon
 * source:  control.h
 */
#ifndef FG_SERVE_CONTROL_CLIENT_H
#define FG_SERVE_CONTROL_CLIENT_H

#include <jansson.h>

struct control_client; /* opaque */

int control_client_open(const char *socket_path, struct control_client **ret);
void control_client_close(struct control_client *client); /* NULL is legal */

/*
 * request is taken over. *ret is the answer, owned by the caller; *ret_fd, if ret_fd is not NULL, a
 * descriptor of the bytes that came with it, the caller's to close, or -1. An answer that is an
 * error is said and is -EREMOTEIO.
 */
int control_client_ask(struct control_client *client, json_t *request, json_t **ret, int *ret_fd);

#endif
