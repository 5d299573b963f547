// SPDX-License-Identifier: Apache-2.0
/* Judges how requests ended, see push_fate.h. */
#include "push/push_fate.h"

#include <string.h>

#define NS_PER_SEC     UINT64_C(1000000000)
#define MOST_WAIT_SEC  60
#define MOST_ASKED_SEC 300
#define LEAST_SKEW_SEC 30

static enum push_fate fate_of_status(const struct push_reply *reply)
{
	switch (reply->status) {
	case 401: /* credentials and tenants can be put right, without a restart */
	case 403:
	case 407:
	case 408: /* the request did not come in time */
	case 425:
	case 429:
	case 503:
		return PUSH_AGAIN;
	case 422: /* Pyroscope before 2.2 says so of a limit of rate */
		return strstr(reply->text, "resource_exhausted") ? PUSH_AGAIN : PUSH_REFUSED;
	default:
		return reply->status >= 300 && reply->status < 500 ? PUSH_REFUSED : PUSH_IN_DOUBT;
	}
}

enum push_fate push_fate_of(const struct push_reply *reply)
{
	if (reply->status >= 200 && reply->status < 300)
		return reply->is_partly_refused ? PUSH_REFUSED : PUSH_SENT;
	if (reply->status >= 300)
		return fate_of_status(reply);
	return reply->went_out ? PUSH_IN_DOUBT : PUSH_AGAIN;
}

int64_t push_skew_of(const struct push_reply *reply, int64_t sent_sec, int64_t answered_sec)
{
	if (reply->date_sec <= 0 || answered_sec < sent_sec)
		return 0;
	if (reply->date_sec > answered_sec + LEAST_SKEW_SEC)
		return reply->date_sec - answered_sec;
	if (reply->date_sec < sent_sec - LEAST_SKEW_SEC)
		return reply->date_sec - sent_sec;
	return 0;
}

uint64_t push_wait_ns(unsigned failures, int64_t retry_after_sec, uint32_t random)
{
	uint64_t sec = 1, ns;

	while (failures-- > 1 && sec < MOST_WAIT_SEC)
		sec *= 2;
	if (sec > MOST_WAIT_SEC)
		sec = MOST_WAIT_SEC;
	ns = sec * NS_PER_SEC;
	ns -= ns / 2 * (random & 0xffff) / 0x10000;
	if (retry_after_sec > MOST_ASKED_SEC)
		retry_after_sec = MOST_ASKED_SEC;
	if (retry_after_sec > 0 && ns < (uint64_t)retry_after_sec * NS_PER_SEC)
		ns = (uint64_t)retry_after_sec * NS_PER_SEC;
	return ns;
}
