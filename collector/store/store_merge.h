// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the windows of a process and an hour -> one segment
 * units:   nanoseconds and seconds since 1970
 * threads: one at a time, the writer's
 * errors:  negative errno: the windows stay as they are, and the failure is counted; an hour whose
 *          samples are the reason is not tried again
 * source:  none
 *
 * Most of a window's bytes are names that the next window has too: an hour's segment has each name
 * once. Its times are in steps of a quarter of a second, because a timeline has that many steps at
 * most (profile/timeline.h).
 *
 * An hour is merged STORE_MERGE_WAIT_SEC after its last window was written; an hour that is not
 * over by the clock, because the clock was set, is merged an hour after its first window was
 * written. A segment that is damaged is left out, counted and removed. An hour with more nodes or
 * names than fit has [overflow] nodes; the windows of an hour that does not fit in a segment stay
 * as they are.
 */
#ifndef FG_STORE_STORE_MERGE_H
#define FG_STORE_STORE_MERGE_H

#include "store/store_writer.h"

#define STORE_MERGE_WAIT_SEC   60
#define STORE_HOUR_SEC	       3600
#define STORE_MERGE_NODES      500000u	   /* of a kind */
#define STORE_MERGE_TIMES      1000000u	   /* of a kind */
#define STORE_MERGE_NAME_BYTES (64u << 20) /* of a kind */
#define STORE_MERGE_XZ_BYTES   (8u << 20)  /* of an hour's records; gzip packs a larger hour */

/* Merges one hour of one process. 1: one was merged, there may be more; 0: there was none. */
int store_merge(struct store *store, const struct wall_clock *now);

#endif
