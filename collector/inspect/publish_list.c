// SPDX-License-Identifier: Apache-2.0
/* Lists the counters of publishing, see publish_list.h. */
#include "inspect/publish_list.h"

#include "base/json_value.h"

json_t *publish_list(const struct publish_stats *stats)
{
	json_t *const object = json_object();

	json_value_put_count(object, "subscribers", stats->subscribers);
	json_value_put_count(object, "subscribers_joined", stats->subscribers_joined);
	json_value_put_count(object, "subscribers_refused", stats->subscribers_refused);
	json_value_put_count(object, "listeners_renewed", stats->listeners_renewed);
	json_value_put_count(object, "messages", stats->messages);
	json_value_put_count(object, "bytes", stats->bytes);
	json_value_put_count(object, "messages_unsent", stats->messages_unsent);
	json_value_put_count(object, "events", stats->events);
	json_value_put_count(object, "events_dropped", stats->events_dropped);
	json_value_put_count(object, "events_left_out", stats->events_left_out);
	json_value_put_count(object, "records_cut", stats->records_cut);
	json_value_put_count(object, "snapshots", stats->snapshots);
	json_value_put_count(object, "waiting_bytes", stats->waiting_bytes);
	json_value_put_count(object, "kept_bytes", stats->kept_bytes);
	return object;
}
