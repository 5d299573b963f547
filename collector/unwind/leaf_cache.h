// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a pc in a piece of generated code -> how much of a frame there is; a return address ->
 *          whether it lies behind a call
 * units:   addr in the target's address space, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  none
 * source:  none
 *
 * Hot code is sampled at few places, again and again. What the code's bytes say of the frame at a
 * place holds as long as the code lives. So the bytes of a place are read from the process once. A
 * walk whose process has ended still finds the answer here. Of two places that collide, the newer
 * one stays. A zero-filled cache is valid.
 */
#ifndef FG_UNWIND_LEAF_CACHE_H
#define FG_UNWIND_LEAF_CACHE_H

#include "code/code_map.h"
#include "unwind/arch.h"

#include <sys/types.h>

#define LEAF_CACHE_PLACES 4096

struct leaf_form {
	enum arch_frame frame;
	struct left_frame left; /* valid if frame is ARCH_FRAME_LEFT */
	bool is_deopt_handler;	/* of a return address: it has been put in the place of one */
};

struct leaf_place {
	uint64_t pc, addr, birth_ns; /* addr and birth_ns are the code's */
	uint32_t size;
	pid_t pid; /* 0: the place is empty */
	struct leaf_form form;
};

struct leaf_cache {
	struct leaf_place places[LEAF_CACHE_PLACES];
};

static inline struct leaf_place *leaf_cache_place(struct leaf_cache *cache, uint64_t pc)
{
	return &cache->places[(pc * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
}

static inline bool leaf_cache_find(struct leaf_cache *cache, pid_t pid,
				   const struct code_range *range, uint64_t pc,
				   struct leaf_form *ret)
{
	const struct leaf_place *place = leaf_cache_place(cache, pc);

	if (place->pid != pid || place->pc != pc || place->addr != range->addr ||
	    place->size != range->size || place->birth_ns != range->birth_ns)
		return false;
	*ret = place->form;
	return true;
}

static inline void leaf_cache_put(struct leaf_cache *cache, pid_t pid,
				  const struct code_range *range, uint64_t pc,
				  const struct leaf_form *form)
{
	*leaf_cache_place(cache, pc) = (struct leaf_place){.pc = pc,
							   .addr = range->addr,
							   .birth_ns = range->birth_ns,
							   .size = range->size,
							   .pid = pid,
							   .form = *form};
}

/*
 * Return addresses that were seen to lie behind a call. Few places of a program call code without
 * unwind rules, again and again. So the bytes in front of such an address are read once. The cache
 * is like the other one.
 */
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
