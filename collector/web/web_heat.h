// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a query -> how much there was in each cell of a heat map, as JSON
 * units:   Unix milliseconds; weights of the kind
 * threads: any, one for each context
 * errors:  negative errno; the reason is logged
 * source:  the sub-second heat map of FlameScope; docs/page.md
 *
 * The range is divided evenly into columns, and each column into rows. A sample is in the cell in
 * which the step of its time begins. Where a row is shorter than the step of the data there, every
 * so many cells have all, and those between have none: finest_ms says so.
 */
#ifndef FG_WEB_WEB_HEAT_H
#define FG_WEB_WEB_HEAT_H

#include "web/web_store.h"

int web_heat_answer(const struct web_context *context, const struct web_query *query,
		    struct web_answer *answer);

/* Which of n parts of the range a time in the range is in. */
size_t web_heat_part(const struct store_range *range, size_t n, uint64_t at_ns);

#endif
