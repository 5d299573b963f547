// SPDX-License-Identifier: Apache-2.0
/* How long samples wait for tables, see patience.h. */
#include "recording/patience.h"

bool patience_lasts(struct patience *patience, const struct patience_ask *ask)
{
	if (ask->loads != patience->loads) {
		patience->loads = ask->loads;
		patience->loaded_ns = ask->now_ns;
	}
	if (ask->now_ns >= ask->time_ns + PATIENCE_MOST_NS)
		return false;
	return ask->is_loading || ask->now_ns < patience->loaded_ns + PATIENCE_USUAL_NS;
}

uint64_t patience_lag_ns(uint64_t oldest_ns, uint64_t now_ns)
{
	const uint64_t lag_ns = oldest_ns < now_ns ? now_ns - oldest_ns : 0;

	if (lag_ns < PATIENCE_USUAL_NS)
		return PATIENCE_USUAL_NS;
	return lag_ns < PATIENCE_MOST_NS ? lag_ns : PATIENCE_MOST_NS;
}
