// SPDX-License-Identifier: Apache-2.0
/* Shares a pool, see fair.h. */
#include "guard/fair.h"

#include "base/array.h"

#include <stdlib.h>

uint64_t fair_level(uint64_t *wants, size_t count, uint64_t total)
{
	if (count > 0)
		qsort(wants, count, sizeof(*wants), array_by_u64);
	for (size_t i = 0; i < count; i++) {
		const uint64_t share = total / (count - i);

		if (wants[i] > share)
			return share;
		total -= wants[i];
	}
	return UINT64_MAX;
}

static int by_group(const void *a, const void *b)
{
	const struct fair_part *const first = a, *const second = b;

	return (first->group > second->group) - (first->group < second->group);
}

uint64_t fair_greediest(struct fair_part *parts, size_t count, uint64_t *ret_amount)
{
	uint64_t greediest = 0, sum = 0;

	*ret_amount = 0;
	if (count > 0)
		qsort(parts, count, sizeof(*parts), by_group);
	for (size_t i = 0; i < count; i++) {
		sum = i > 0 && parts[i].group == parts[i - 1].group ? sum : 0;
		sum += parts[i].amount;
		if (sum > *ret_amount) {
			*ret_amount = sum;
			greediest = parts[i].group;
		}
	}
	return greediest;
}
