// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   how much each of several wants of a pool -> how much each may have at most
 * units:   those of the pool
 * threads: any
 * errors:  none
 * source:  max-min fairness: Bertsekas and Gallager, Data Networks, 6.5.2
 *
 * Whoever wants no more than the level gets all of it. The others get the level. So a pool that is
 * large enough refuses nobody anything, and a pool that is too small takes from the greediest
 * alone.
 */
#ifndef FG_GUARD_FAIR_H
#define FG_GUARD_FAIR_H

#include <stddef.h>
#include <stdint.h>

/* The level for a pool of that total. UINT64_MAX: all wants fit. Sorts wants. */
uint64_t fair_level(uint64_t *wants, size_t count, uint64_t total);

#endif
