// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the counters of a publisher
 * units:   counts since the daemon's start, unless said otherwise; bytes
 * threads: a value
 * errors:  none
 * source:  none
 */
#ifndef FG_PUBLISH_PUBLISH_STATS_H
#define FG_PUBLISH_PUBLISH_STATS_H

#include "base/counters.h"

#include <stdint.h>

struct publish_stats {
	uint64_t subscribers;	      /* now */
	uint64_t subscribers_joined;  /* all that ever were */
	uint64_t subscribers_refused; /* of another user, or past the most */
	uint64_t listeners_renewed;   /* libnng's had ended, see publish_socket.h */
	uint64_t messages, bytes;     /* that libnng took */
	uint64_t messages_unsent;     /* that libnng did not take */
	uint64_t events;	      /* of code and of JVMs, summaries and snapshots included */
	uint64_t events_dropped;      /* for want of room on the way to libnng */
	uint64_t events_left_out;     /* the same: their owner had more than a share of the room */
	uint64_t records_cut;	      /* events without their record, which was too long */
	uint64_t snapshots;	      /* of one JVM each, whole */
	uint64_t askers, askers_joined, askers_refused; /* of the state, as for subscribers */
	uint64_t answers;				/* that libnng took */
	uint64_t answers_unsent;   /* who asked had not taken the one before, or no memory */
	uint64_t requests_refused; /* of the answers, errors */
	uint64_t starts_failed;	   /* times that libnng could not be started */
	uint64_t waiting_bytes;	   /* now: on the way to libnng */
	uint64_t kept_bytes;	   /* now: the most that libnng's queues can have */
};
extern const struct counters publish_counters;

#endif
