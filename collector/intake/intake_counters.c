// SPDX-License-Identifier: Apache-2.0
/* What the intake counts, see intake.h. */
#include "intake/intake.h"

static const struct counter counters[] = {
	COUNTER_SUM(struct intake_stats, refused, "refused_connections",
		    "refused_connections_total", "Connections of agents that were refused."),
	COUNTER_SUM(struct intake_stats, evicted, "evicted_connections",
		    "evicted_connections_total", "Connections that made room for those of others."),
	COUNTER_SUM(struct intake_stats, broken, "broken_messages", "broken_messages_total",
		    "Messages of agents that could not be read."),
	COUNTER_SUM(struct intake_stats, other_version, "other_versions", "other_versions_total",
		    "Connections of agents with another version of the wire."),
	COUNTER_SUM(struct intake_stats, gaps, "sequence_gaps", "sequence_gaps_total",
		    "Jumps of the sequence numbers of agents' messages."),
	COUNTER_GAUGE(struct intake_stats, buffer_bytes, "kept.buffer_bytes",
		      "message_buffer_bytes", "Memory of messages of agents that are not whole."),
};

const struct counters intake_counters = COUNTERS(struct intake_stats, counters);
