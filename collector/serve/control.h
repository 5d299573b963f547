// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   requests of other fgcollect processes -> the daemon's answers
 * units:   JSON; bytes of a rendered graph beside it
 * threads: the model's
 * errors:  negative errno, said on stderr; a bad request is answered with an error text
 * source:  unix(7): SOCK_SEQPACKET, SO_PEERCRED, SCM_RIGHTS
 *
 * The socket is 0600, in a directory of its own beside the agents', /run/fgcollect-control, because
 * the agents' is mounted into containers, where a process may well have UID 0. For the same reason
 * a peer is refused unless it is this user or root *and* shares the daemon's mount namespace.
 *
 * A request is one message, a JSON object with "op"; the answer is one message, a JSON object with
 * "ok", or with "error". The bytes of render come as a descriptor of a memory file with the answer;
 * an answer longer than a message comes so too, and the message is then {}.
 *   list (pid and names)          -> list
 *   record (options of recording) -> id, missing   java_names, raw_names, lines, stack_bytes
 *                                    and window_seconds among them; missing is a sentence about
 *                                    what will have no names, if there is anything
 *   record may_wait               -> id, or wait: what is meant may be known in a moment, and
 *                                    the same is to be asked again then
 *   status id                     -> elapsed_ns samples lost jvms done event quality
 *   stop id, end id               ->
 *   window id                     -> as status, of the window; and its bytes, of a .fgrec
 *   render id suffix title subtitle notes split_levels java_only fold_frameworks thread_starts
 *                                 -> bytes
 *                                    suffix: ".svg"
 */
#ifndef FG_SERVE_CONTROL_H
#define FG_SERVE_CONTROL_H

#include "live/engine.h"

#include <jansson.h>

#define CONTROL_MAX_MESSAGE_BYTES (64u << 10)

struct control; /* opaque */

/* Into ret (PATH_MAX): the control socket that belongs to the agents' socket. */
void control_path(const char *socket_path, char *ret);

/* Serves requests within engine_step from now on. */
int control_open(struct engine *engine, const char *socket_path, struct control **ret);
/* Ends what clients record, lets none begin, and serves them until they have it and are gone. */
void control_finish(struct control *control, uint64_t patience_ns);
void control_close(struct control *control); /* NULL is legal */

/* Recording options and figures as JSON and back; the client uses them too. */
json_t *control_options_to_json(const struct recording_options *options);
int control_options_from_json(const json_t *object, struct recording_options *ret);
/* Of these only which processes are meant: by PID or by names. */
void control_targets_to_json(const struct recording_options *options, json_t *object);
int control_targets_from_json(const json_t *object, struct recording_options *ret);
json_t *control_status_to_json(const struct recording_status *status);
void control_status_from_json(const json_t *object, struct recording_status *ret);

#endif
