// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the steps of each owner's samples have taken of a capture -> who may take more
 * units:   those of enum capture_pool
 * threads: the model's
 * errors:  none; without memory what is taken is of nobody
 * source:  guard/pool.h
 *
 * A capture of all processes is not that of who comes first: once there are two containers or
 * users, each has as much of each pool as is free, and who is alone leaves a part to those who come
 * later (pool_may_grow). Samples of an owner without a share are left out, and counted as others
 * for which the capture has no room.
 */
#ifndef FG_CAPTURE_CAPTURE_SHARE_H
#define FG_CAPTURE_CAPTURE_SHARE_H

#include "guard/pool.h"

/* What of a capture is limited. */
enum capture_pool {
	CAPTURE_POOL_BYTES, /* of the file, before zipping */
	CAPTURE_POOL_RECORDS,
	CAPTURE_POOL_PROCESSES,
	CAPTURE_POOL_FILES,
	CAPTURE_POOL_CODE, /* facts of code */
	CAPTURE_POOL_FRAMES,
	CAPTURE_POOL_MEMORY, /* bytes, with the file */
	CAPTURE_POOLS,
};

struct capture_amounts {
	uint64_t of[CAPTURE_POOLS];
};

struct capture_share {
	struct pool pools[CAPTURE_POOLS];
};

void capture_share_fini(struct capture_share *share); /* a zero-filled struct is valid */

bool capture_share_has(const struct capture_share *share, uint64_t group,
		       const struct capture_amounts *limits);
/* A step of the group's has taken what lies between two sums. */
void capture_share_take(struct capture_share *share, uint64_t group,
			const struct capture_amounts *before, const struct capture_amounts *after);
uint64_t capture_share_bytes(const struct capture_share *share);

#endif
