// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   one connection to the collector: greetings, then whole messages out
 * units:   bytes; waits in milliseconds
 * threads: one at a time, the agent's own
 * errors:  negative errno; after an error the connection can only be closed
 * source:  unix(7); the SP IPC mapping as in shared/README.md, "Transport"
 *
 * No function waits without a limit, and none raises SIGPIPE. To wait is to sleep for some
 * milliseconds and to try again, so that no system call is made but those that send and receive. If
 * the program closes the connection's descriptor, whatever gets the number is neither written to
 * nor read nor closed, and the error is -EBADF.
 */
#ifndef FGAGENT_UPLINK_H
#define FGAGENT_UPLINK_H

#include "own_fd.h"
#include "shared/wire.h"
#include "wake.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UPLINK_GREETING_TIMEOUT_MS 1000
#define UPLINK_FULL_TRIES	   6 /* at a full queue, 126 ms */
#define UPLINK_FULL_WAIT_MS	   2 /* before the first of these, twice that before each other */
#define UPLINK_STALL_TIMEOUT_MS	   5000
#define UPLINK_HURRY_TIMEOUT_MS	   50 /* in place of UPLINK_STALL_TIMEOUT_MS when the JVM ends */
#define UPLINK_HEADER_BYTES	   (WIRE_SP_FRAME_HEADER_BYTES + WIRE_MESSAGE_HEADER_BYTES)

/* How the thread waits. All is borrowed. */
struct uplink_patience {
	struct wake *wake;	  /* ends a sleep; what it tells of is forgotten */
	const atomic_bool *hurry; /* becomes true when the JVM ends */
};

struct uplink {
	struct own_fd own; /* none when closed */
	uint64_t seq;	   /* sequence number of the next message */
	struct uplink_patience patience;
	/* The message that is being sent. */
	size_t records_len; /* bytes of its records; 0: there is none */
	size_t done;	    /* bytes that were sent, the header's among them */
	uint8_t header[UPLINK_HEADER_BYTES];
};

/*
 * Dials path and exchanges greetings; the collector must have a PULL socket. Returns 0 or negative
 * errno: -EPROTO: another protocol; -ETIMEDOUT: no greeting; -ECONNRESET: the collector closed the
 * connection; -ECANCELED: the JVM ends; -EAGAIN: the collector's queue was full at all tries; else
 * the error of connect(2).
 */
int uplink_open(struct uplink *uplink, const char *path, struct uplink_patience patience);
/*
 * uplink_open on a connection that the collector has made. fd is owned from here on, also on an
 * error.
 */
int uplink_take(struct uplink *uplink, int fd, struct uplink_patience patience);
void uplink_close(struct uplink *uplink);
bool uplink_is_open(const struct uplink *uplink);

/*
 * Sends one message with these whole records. Waits for room as long as some bytes are taken within
 * UPLINK_STALL_TIMEOUT_MS, or within UPLINK_HURRY_TIMEOUT_MS if the JVM ends; -ETIMEDOUT after
 * that.
 */
int uplink_send(struct uplink *uplink, const uint8_t *records, size_t len);
/*
 * uplink_send without any wait. -EAGAIN: the message was begun, and uplink_send or uplink_offer has
 * to be called next, with records of the same content and length.
 */
int uplink_offer(struct uplink *uplink, const uint8_t *records, size_t len);
/* The length of the records of a message that was begun; 0 if there is none. */
static inline size_t uplink_begun(const struct uplink *uplink)
{
	return uplink->records_len;
}

/*
 * Whether the connection still stands: 0, or negative errno. -EPROTO: there is a byte behind the
 * collector's greeting. A collector sends none, and whoever does would keep the agent busy.
 */
int uplink_check(struct uplink *uplink);

#endif
