// SPDX-License-Identifier: Apache-2.0
/* What a publisher counts, see publish_stats.h. */
#include "publish/publish_stats.h"

static const struct counter counters[] = {
	COUNTER_GAUGE(struct publish_stats, subscribers, "publish.subscribers",
		      "publish_subscribers", "Subscribers of --publish."),
	COUNTER_SUM(struct publish_stats, subscribers_joined, "publish.subscribers_joined",
		    "publish_subscribers_joined_total", "Subscribers that have come."),
	COUNTER_SUM(struct publish_stats, subscribers_refused, "publish.subscribers_refused",
		    "publish_subscribers_refused_total",
		    "Subscribers of other users, or past the most."),
	COUNTER_SUM(struct publish_stats, listeners_renewed, "publish.listeners_renewed",
		    "publish_listeners_renewed_total", "Times that libnng's listener had ended."),
	COUNTER_SUM(struct publish_stats, messages, "publish.messages", "publish_messages_total",
		    "Messages that libnng has taken for its subscribers."),
	COUNTER_SUM(struct publish_stats, bytes, "publish.bytes", "publish_bytes_total",
		    "Bytes of these messages."),
	COUNTER_SUM(struct publish_stats, messages_unsent, "publish.messages_unsent",
		    "publish_messages_unsent_total", "Messages that libnng has not taken."),
	COUNTER_SUM(struct publish_stats, events, "publish.events", "publish_events_total",
		    "Entries and lines of messages."),
	COUNTER_SUM(struct publish_stats, events_dropped, "publish.events_dropped",
		    "publish_events_dropped_total", "Events that were dropped for want of room."),
	COUNTER_SUM(struct publish_stats, events_left_out, "publish.events_left_out",
		    "publish_events_left_out_total",
		    "Events of those who had more than their share of the room."),
	COUNTER_SUM(struct publish_stats, records_cut, "publish.records_cut",
		    "publish_records_cut_total",
		    "Events without their record, which was too long."),
	COUNTER_SUM(struct publish_stats, snapshots, "publish.snapshots", "publish_snapshots_total",
		    "Times that all code of a JVM was published."),
	COUNTER_GAUGE(struct publish_stats, waiting_bytes, "publish.waiting_bytes",
		      "publish_waiting_bytes", "Memory of events on their way to libnng."),
	COUNTER_GAUGE(struct publish_stats, kept_bytes, "publish.kept_bytes", "publish_kept_bytes",
		      "The most that libnng keeps of messages for its subscribers."),
};

const struct counters publish_counters = COUNTERS(struct publish_stats, counters);
