// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   one connection to the collector: greeted, then whole messages out
 * units:   bytes; waits in milliseconds
 * threads: one at a time, the agent's own
 * errors:  negative errno; after one the link is only good for closing
 * source:  unix(7); the SP IPC mapping as in shared/README.md, "Transport"
 *
 * Nothing here waits without a limit, and no call raises SIGPIPE.
 */
#ifndef FGAGENT_UPLINK_H
#define FGAGENT_UPLINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UPLINK_GREETING_TIMEOUT_MS 1000
#define UPLINK_STALL_TIMEOUT_MS	   5000
#define UPLINK_HURRY_TIMEOUT_MS	   50 /* the stall's, once the JVM ends */

struct uplink {
	int fd;			  /* -1 when closed */
	uint64_t seq;		  /* of the next message */
	const atomic_bool *hurry; /* borrowed; becomes true when nobody has time any more */
};

/*
 * Dials path and exchanges greetings; the other side must be a PULL socket. 0 or negative errno:
 * -EPROTO for another protocol, -ETIMEDOUT for silence, -ECONNRESET for a closed door, -ECANCELED
 * when cancel_fd became readable meanwhile, or what connect(2) said.
 */
int uplink_open(struct uplink *uplink, const char *path, int cancel_fd, const atomic_bool *hurry);
/* The same on a connection that the other side has made; fd is taken, whatever comes of it. */
int uplink_take(struct uplink *uplink, int fd, int cancel_fd, const atomic_bool *hurry);
void uplink_close(struct uplink *uplink);
bool uplink_is_open(const struct uplink *uplink);

/*
 * Sends one message of these whole records, waiting for room as long as there is progress within
 * UPLINK_STALL_TIMEOUT_MS, or in a hurry UPLINK_HURRY_TIMEOUT_MS; -ETIMEDOUT after that.
 */
int uplink_send(struct uplink *uplink, const uint8_t *records, size_t len);

/* Reads and drops what the collector said: 0, or negative errno if it has gone. */
int uplink_check(struct uplink *uplink);

#endif
