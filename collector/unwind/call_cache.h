// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a return address -> whether it was seen to lie behind a call
 * units:   addr in the target's address space
 * threads: one at a time
 * errors:  none
 * source:  none
 *
 * Few places of a program call code without unwind rules, again and again. So the bytes in front of
 * a return address are read from the process once. Of two places that collide, the newer one stays.
 * A zero-filled cache is valid.
 */
#ifndef FG_UNWIND_CALL_CACHE_H
#define FG_UNWIND_CALL_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CALL_CACHE_PLACES 4096

struct call_cache {
	struct {
		uint64_t addr;
		pid_t pid; /* 0: the place is empty */
	} places[CALL_CACHE_PLACES];
};

static inline uint32_t call_cache_place(uint64_t addr)
{
	return (uint32_t)((addr * UINT64_C(0x9e3779b97f4a7c15)) >> 52);
}

static inline bool call_cache_has(const struct call_cache *cache, pid_t pid, uint64_t addr)
{
	const uint32_t place = call_cache_place(addr);

	return cache->places[place].pid == pid && cache->places[place].addr == addr;
}

static inline void call_cache_put(struct call_cache *cache, pid_t pid, uint64_t addr)
{
	const uint32_t place = call_cache_place(addr);

	cache->places[place].addr = addr;
	cache->places[place].pid = pid;
}

#endif
