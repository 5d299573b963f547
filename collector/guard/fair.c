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
