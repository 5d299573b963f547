// SPDX-License-Identifier: Apache-2.0
/* Allows each group ten lines a minute and counts the others, see log_limit.h. */
#include "base/log_limit.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>

#define MINUTE_NS (60 * CLOCK_NS_PER_SEC)

static bool is_over(const struct log_limit *limit, uint64_t now_ns)
{
	return limit->minute_began_ns == 0 || now_ns - limit->minute_began_ns >= MINUTE_NS;
}

/* The place of the group, or the last one, which is that of all further groups. */
static unsigned place_of(struct log_limit *limit, uint64_t group)
{
	unsigned i = 0;

	while (i < limit->n && limit->parts[i].group != group)
		i++;
	if (i == limit->n && i < LOG_LIMIT_GROUPS)
		limit->parts[limit->n++].group = group;
	return i;
}

static bool count_line(struct log_limit *limit, unsigned place)
{
	if (limit->parts[place].lines == LOG_LIMIT_LINES)
		return false;
	limit->parts[place].lines++;
	return true;
}

bool log_limit_allows(struct log_limit *limit, uint64_t group, uint64_t now_ns)
{
	if (is_over(limit, now_ns)) {
		const unsigned left_out = limit->left_out;

		*limit = (struct log_limit){.minute_began_ns = now_ns};
		if (left_out > 0)
			log_warning("%u more lines like the following were left out", left_out);
	}
	if (count_line(limit, place_of(limit, group)))
		return true;
	limit->left_out++;
	return false;
}

bool log_share_allows(struct log_share *share, uint64_t group, const char *name, uint64_t now_ns)
{
	unsigned place;

	if (share->limit.minute_began_ns == 0)
		share->limit.minute_began_ns = now_ns;
	place = place_of(&share->limit, group);
	if (count_line(&share->limit, place))
		return true;
	snprintf(share->parts[place].name, sizeof(share->parts[place].name), "%s",
		 place < LOG_LIMIT_GROUPS ? name : "others");
	share->parts[place].left_out++;
	return false;
}

void log_share_step(struct log_share *share, const char *what, uint64_t now_ns)
{
	const struct log_share ended = *share;

	if (share->limit.minute_began_ns == 0 || !is_over(&share->limit, now_ns))
		return;
	*share = (struct log_share){.limit.minute_began_ns = 0};
	for (unsigned i = 0; i <= LOG_LIMIT_GROUPS; i++) {
		if (ended.parts[i].left_out > 0)
			log_info("%s: %u more %s within a minute", ended.parts[i].name,
				 ended.parts[i].left_out, what);
	}
}
