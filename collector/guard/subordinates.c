// SPDX-License-Identifier: Apache-2.0
/*
 * Ranges of subordinate user IDs, see subordinates.h. A line is "name:first:count", where the name
 * may be a number.
 */
#include "guard/subordinates.h"

#include <stdio.h>
#include <string.h>

void subordinates_parse(struct subordinates *known, const char *text)
{
	known->n = 0;
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		unsigned long long first, count;

		line += *line == '\n';
		if (known->n < SUBORDINATES_MAX &&
		    sscanf(line, "%*[^:\n]:%10llu:%10llu", &first, &count) == 2 && count > 0) {
			known->ranges[known->n].first = first;
			known->ranges[known->n++].count = count;
		}
	}
}

uint64_t subordinates_user(const struct subordinates *known, uint64_t uid)
{
	for (size_t i = 0; i < known->n; i++) {
		if (uid >= known->ranges[i].first &&
		    uid - known->ranges[i].first < known->ranges[i].count)
			return known->ranges[i].first;
	}
	return uid;
}
