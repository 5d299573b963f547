// SPDX-License-Identifier: Apache-2.0
/* Shares a capture between owners of samples, see capture_share.h. */
#include "capture/capture_share.h"

void capture_share_fini(struct capture_share *share)
{
	for (size_t i = 0; i < CAPTURE_POOLS; i++)
		pool_fini(&share->pools[i]);
}

bool capture_share_has(const struct capture_share *share, uint64_t group,
		       const struct capture_amounts *limits)
{
	for (size_t i = 0; i < CAPTURE_POOLS; i++) {
		if (!pool_may_grow(&share->pools[i], group, limits->of[i]))
			return false;
	}
	return true;
}

void capture_share_take(struct capture_share *share, uint64_t group,
			const struct capture_amounts *before, const struct capture_amounts *after)
{
	for (size_t i = 0; i < CAPTURE_POOLS; i++) {
		if (after->of[i] > before->of[i])
			(void)pool_charge(&share->pools[i], group, after->of[i] - before->of[i]);
	}
}

uint64_t capture_share_bytes(const struct capture_share *share)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < CAPTURE_POOLS; i++)
		bytes += pool_bytes(&share->pools[i]);
	return bytes;
}
