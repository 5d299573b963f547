// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a request to the daemon -> its answer
 * units:   none
 * threads: one at a time
 * errors:  negative errno, said on stderr, except -ENOENT: no daemon runs
 * source:  control.h
 */
#ifndef FG_SERVE_CONTROL_CLIENT_H
#define FG_SERVE_CONTROL_CLIENT_H

#include <jansson.h>

struct control_client; /* opaque */

int control_client_open(const char *socket_path, struct control_client **ret);
void control_client_close(struct control_client *client); /* NULL is legal */

/*
 * Sends request, which is owned from here on. *ret is the answer, owned by the caller. *ret_fd is
 * the descriptor that came with the answer, which the caller closes, or -1; ret_fd may be NULL. If
 * the answer is an error, its text is said on stderr and -EREMOTEIO is returned.
 */
int control_client_ask(struct control_client *client, json_t *request, json_t **ret, int *ret_fd);

#endif
