// SPDX-License-Identifier: Apache-2.0
/* Limits the share of time that reading ring buffers takes, see pace.h. */
#include "loop/pace.h"

#define FACTOR 4

uint64_t pace_wait_ns(uint64_t took_ns, uint64_t least_ns, uint64_t most_ns)
{
	if (took_ns >= most_ns / FACTOR)
		return most_ns;
	return took_ns * FACTOR > least_ns ? took_ns * FACTOR : least_ns;
}
