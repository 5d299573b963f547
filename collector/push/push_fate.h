// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   how a request ended -> what becomes of what was sent
 * units:   seconds since 1970
 * threads: any
 * errors:  none
 * source:  RFC 9110; OTLP: failures; Pyroscope's answers, see docs/push.md
 *
 * A server counts what it gets twice as two. So a profile is sent again only if it has surely not
 * been taken: nothing of the request went out, or the server said so. All else is in doubt.
 */
#ifndef FG_PUSH_PUSH_FATE_H
#define FG_PUSH_PUSH_FATE_H

#include <stdbool.h>
#include <stdint.h>

#define PUSH_REPLY_TEXT 256

enum push_fate {
	PUSH_SENT,
	PUSH_AGAIN,
	PUSH_IN_DOUBT, /* the server may have taken it */
	PUSH_REFUSED,  /* the server will never take it */
};
#define PUSH_FATES 4

struct push_reply {
	bool went_out;		    /* something of the request did */
	long status;		    /* of HTTP; 0: there was no answer */
	int64_t retry_after_sec;    /* 0: the server did not say */
	int64_t date_sec;	    /* the server's clock; 0: the server did not say */
	bool is_partly_refused;	    /* by OTLP's partial success */
	char text[PUSH_REPLY_TEXT]; /* what the server or the library says; safe to be shown */
};

enum push_fate push_fate_of(const struct push_reply *reply);

/* The server's clock less ours, in seconds; 0 if that cannot be told, or is less than 30 s. */
int64_t push_skew_of(const struct push_reply *reply, int64_t sent_sec, int64_t answered_sec);

/*
 * How long to wait after so many failures in a row, from 1 on: doubled each time from 1 s to 60 s,
 * then shortened by up to a half by chance (random: any number), so that hosts do not come all at
 * once. What the server asks for is waited for, up to 5 minutes.
 */
uint64_t push_wait_ns(unsigned failures, int64_t retry_after_sec, uint32_t random);

#endif
