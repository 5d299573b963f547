// SPDX-License-Identifier: Apache-2.0
/* Allows ten lines a minute and counts the others, see log_limit.h. */
#include "base/log_limit.h"

#include "base/clock.h"
#include "base/log.h"

#define MINUTE_NS (60 * CLOCK_NS_PER_SEC)

bool log_limit_allows(struct log_limit *limit, uint64_t now_ns)
{
	if (limit->minute_began_ns == 0 || now_ns - limit->minute_began_ns >= MINUTE_NS) {
		const unsigned left_out = limit->left_out;

		*limit = (struct log_limit){.minute_began_ns = now_ns};
		if (left_out > 0)
			log_warning("%u more lines like the following were left out", left_out);
	}
	if (limit->lines < LOG_LIMIT_LINES) {
		limit->lines++;
		return true;
	}
	limit->left_out++;
	return false;
}
