// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   address and time -> the code range that was at the address at this time
 * units:   addr in the target's address space, sizes bytes, times CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  negative errno; a failed operation leaves the map as it was
 * source:  JVMTI CompiledMethodLoad, CompiledMethodUnload, DynamicCodeGenerated
 *
 * A code range is a piece of generated code: a compiled method or a stub. Addresses are reused, so
 * every range has a birth and a death, and every look-up takes a time. Two ranges never both live
 * at one address: a load ends all ranges that it overlaps, at the time of its own birth, because
 * stubs have no unload event.
 *
 * Events lag the code by up to 100 ms. Therefore a look-up at an address and a time answers, in
 * this order: the range that lives there at this time; else the next range born there; else the
 * last range that died there, if no range has been born there since.
 *
 * Times that contradict what is known are corrected: no range dies before its own birth, and no
 * range is born before the last death at any of its addresses.
 *
 * Names are borrowed from the caller and must outlive the map. Equal names must be equal pointers.
 */
#ifndef FG_CODE_CODE_MAP_H
#define FG_CODE_CODE_MAP_H

#include "base/counters.h"

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_TIME_FOREVER  UINT64_MAX
#define CODE_LEVEL_UNKNOWN 255

/*
 * The most ranges of a map, living and dead, and the most links from pages to ranges: about 140 MB
 * at worst. HotSpot's largest code cache, 2 GiB, has as many ranges if it is full of methods of
 * 4 KiB. Past a limit (also that of 512 ranges on a page) the oldest dead range is forgotten; if
 * there is no dead range, the new range is rejected. A map has at most 64 ranges larger than
 * 256 KiB. Only code_map_expire forgets dead ranges of this size, because to add one is expensive.
 */
#define CODE_MAP_MAX_RANGES (1u << 19)
#define CODE_MAP_MAX_LINKS  (1u << 20)

struct inline_table;

enum code_kind {
	CODE_STUB,	     /* interpreter, adapters, runtime stubs: no Java method */
	CODE_JAVA,	     /* compiled Java */
	CODE_OSR,	     /* compiled Java, entered by on-stack replacement */
	CODE_NATIVE_WRAPPER, /* HotSpot's glue around a native method */
};

/*
 * The frame of a code range, for an unwinder without frame pointers. From the offset complete on,
 * and outside of the epilogue, the frame of the caller begins size bytes above the stack pointer,
 * and the 8 bytes below the caller's frame are the return address. All members are 0 where nothing
 * is known. Offsets count from the range's addr and are not beyond the range's end.
 */
struct code_frame {
	uint32_t size;	   /* bytes, a multiple of 8; 0: not known */
	uint32_t complete; /* an offset; 0: not known, as for most stubs whose size is known */
	uint32_t entry;	   /* the offset of the verified entry point */
};

#define CODE_FRAME_MAX_BYTES (1u << 20)

struct code_range {
	uint64_t addr;
	uint32_t size;	     /* never 0, addr + size does not wrap */
	uint8_t kind;	     /* enum code_kind */
	uint8_t level;	     /* compile level 0 to 4, or CODE_LEVEL_UNKNOWN */
	bool is_read;	     /* it was found beside an agent: maybe no event tells of its end */
	bool is_rest;	     /* what is left of a dead range that is partly replaced */
	uint32_t dump_index; /* its number in the jitdump; 0: there is no jitdump */
	struct code_frame frame;
	uint64_t birth_ns;
	uint64_t death_ns;	      /* CODE_TIME_FOREVER while the range lives */
	const char *class_name;	      /* java/lang/String; NULL for a stub */
	const char *name;	      /* the method's or the stub's */
	const char *signature;	      /* (I)V; NULL for a stub */
	const char *source_file;      /* String.java; NULL if not known */
	struct inline_table *inlines; /* NULL if not known */
};

struct code_map_stats {
	size_t live;	     /* ranges without a death */
	uint64_t live_bytes; /* of code in them */
	size_t dead;	     /* ranges kept for held samples, or because no range replaced them */
	uint64_t loads;	     /* ranges added, repeats not counted */
	uint64_t repeats;    /* adds of a range that was known already */
	uint64_t unloads;
	uint64_t unknown_unloads; /* unloads at an address at which no living range starts */
	uint64_t evicted;	  /* ranges ended by an overlapping load, not by an unload */
	uint64_t buried;	  /* ranges ended by a resynchronisation that left them out */
	uint64_t expired;	  /* dead ranges that were forgotten */
	uint64_t unlisted;	  /* ranges that code_map_list no longer returns */
	uint64_t relisted; /* ranges whose inline table or name came after they were listed */
	uint64_t rejected; /* adds with size 0, a wrapping range, no room or no memory */
	size_t bytes;	   /* memory of ranges and index, names excluded */
};
extern const struct counters code_map_counters;

/* Whether the range is not empty and does not wrap. */
static inline bool code_range_is_valid(uint64_t addr, uint32_t size)
{
	return size > 0 && addr <= UINT64_MAX - size;
}

/* The addresses of a range. */
struct code_span {
	uint64_t addr;
	uint32_t size;
};

#define CODE_MAP_MAX_UNLISTED 512
#define CODE_MAP_RESTS	      2 /* one in front of the new range, one behind it */

struct code_map; /* opaque */

int code_map_new(struct code_map **ret);
void code_map_free(struct code_map *map); /* NULL is legal */
/*
 * Frees a part, for who cannot wait until all is freed: ranges and pages, max of them at most.
 * True: all are freed. Afterwards the map can only be freed.
 */
bool code_map_free_some(struct code_map *map, size_t max);

/*
 * Adds a range that was born at range->birth_ns; death_ns is ignored. Returns 1, or 0 if the range
 * is a repeat, or -EINVAL for size 0 or a range that wraps, -ENOSPC, -ENOMEM.
 *
 * A repeat has the addr, size, kind and names of a range that lives there. A repeat confirms this
 * range, and gives it the level, frame and inlines that it lacked. In a resynchronisation a stub
 * whose name is a beginning of the living stub's name is a repeat too, because HotSpot shortens
 * such names.
 *
 * is_resync says that birth_ns is the time of the repetition, not of the birth. The range is then
 * taken to have lived since the last death at any of its addresses, or always. Ranges that it finds
 * alive at its addresses died when the resynchronisation began.
 *
 * Takes range->inlines in any case.
 */
int code_map_add(struct code_map *map, const struct code_range *range, bool is_resync);

/* Ends the range that starts at addr. Returns 1, or 0 (counted) if no living range starts there. */
int code_map_remove(struct code_map *map, uint64_t addr, uint64_t time_ns);

/*
 * A resynchronisation: between begin and a complete end the agent repeats all code that lives.
 * Ranges that were known before begin and were not added again die at the end, with the time of
 * begin. Returns the number of ranges that died. An end without a begin, or one that is not
 * complete, changes nothing. The time that the end takes grows with the ranges that die, not with
 * the ranges that live.
 */
void code_map_resync_begin(struct code_map *map, uint64_t time_ns);
size_t code_map_resync_end(struct code_map *map, bool complete);

/* Borrowed until the next change of the map; NULL if no range was ever known at addr. */
const struct code_range *code_map_find(const struct code_map *map, uint64_t addr, uint64_t time_ns);

/* The living range that begins at addr, or NULL; borrowed likewise. No watch is asked. */
const struct code_range *code_map_living(const struct code_map *map, uint64_t addr);
/*
 * The latest birth of the ranges that live at any address of a valid range. 0: none lives there, or
 * the range is so large that code_map_add has no room for it now.
 */
uint64_t code_map_last_birth(const struct code_map *map, uint64_t addr, uint32_t size);
/*
 * Gives the living range that begins at addr another name, without class, signature and source
 * file, and marks it as read. Lists have it as one that was relisted.
 */
void code_map_name_living(struct code_map *map, uint64_t addr, const char *name);
/*
 * Walks living ranges in no order, while the map may change: a range that lives all the time comes
 * once. *pos starts at 0, and max is the most places that are looked at. NULL: *ret_ends says
 * whether the walk is at its end, or max was reached.
 */
const struct code_range *code_map_next_living(const struct code_map *map, size_t *pos, size_t max,
					      bool *ret_ends);

/* Is asked at each code_map_find. */
struct code_map_watch {
	/* range: what the map has, or NULL. Returns what code_map_find is to return. */
	const struct code_range *(*find)(void *arg, uint64_t addr, uint64_t time_ns,
					 const struct code_range *range);
	void *arg;
};

/* Sets the watch, borrowed; NULL: none. Returns the one before. */
const struct code_map_watch *code_map_set_watch(struct code_map *map,
						const struct code_map_watch *watch);

/*
 * The rests of the last code_map_add that returned 1: what is left of dead ranges of which the new
 * range replaced a part. A rest is a range of its own in lists, without frame and inlines; look-ups
 * do not find it. Borrowed until the next change of the map. Returns the number of rests.
 */
size_t code_map_rests(const struct code_map *map, const struct code_range *ret[CODE_MAP_RESTS]);

/*
 * Forgets ranges that died before horizon_ns and of which another range has replaced any byte. Up
 * to max_dead dead ranges that no range replaced stay; beyond max_dead they are forgotten in the
 * order in which their deaths became known, but none that died at horizon_ns or later.
 */
void code_map_expire(struct code_map *map, uint64_t horizon_ns, size_t max_dead);
/*
 * The same of at most max ranges. Returns how many were forgotten: less than max if no more can be.
 */
size_t code_map_expire_some(struct code_map *map, uint64_t horizon_ns, size_t max_dead, size_t max);

/*
 * The ranges that belong into a perf map: living ranges, and dead code that no range has replaced,
 * in rising order of address and without overlap. since is 0 for all ranges, or a value of
 * code_map_mark for the ranges added after it. An earlier list is brought up to date by adding
 * the ranges listed since, and by removing the ranges of code_map_unlisted, as long as
 * stats.relisted has not changed. The caller frees the array; the ranges are borrowed until the
 * next change of the map. Returns the number of ranges, or -ENOMEM.
 */
ssize_t code_map_list(const struct code_map *map, uint64_t since, const struct code_range ***ret);
uint64_t code_map_mark(const struct code_map *map);
/*
 * As code_map_list, but of the ranges added since lists at most so many, those that were added
 * first. *ret_until is the mark behind them.
 */
ssize_t code_map_list_some(const struct code_map *map, uint64_t since, size_t most,
			   const struct code_range ***ret, uint64_t *ret_until);

/*
 * The addresses of ranges that code_map_list no longer returns since stats.unlisted was since, in
 * rising order. ret has room for CODE_MAP_MAX_UNLISTED. Returns their number, or -ENOSPC if there
 * are more.
 */
ssize_t code_map_unlisted(const struct code_map *map, uint64_t since, struct code_span *ret);

/*
 * Replaces each name of every range, living or dead, by the name that fn returns for it, for a
 * caller that moves its names elsewhere. fn must return equal pointers for equal names, and is not
 * called for NULL.
 */
typedef const char *(*code_map_rename_fn)(void *arg, const char *name);
void code_map_rename(struct code_map *map, code_map_rename_fn fn, void *arg);
/*
 * The same in steps, while the map changes: names of ranges that are added meanwhile are replaced
 * too. Until code_map_is_renaming says that the last step is done, a range may have its old names
 * or its new ones. A step replaces the names of at most max ranges, and returns of how many.
 */
void code_map_begin_rename(struct code_map *map, code_map_rename_fn fn, void *arg);
size_t code_map_rename_some(struct code_map *map, size_t max);
bool code_map_is_renaming(const struct code_map *map);

/* As stats.bytes, and fast enough to be asked at each event. */
size_t code_map_bytes(const struct code_map *map);
void code_map_stats(const struct code_map *map, struct code_map_stats *ret);

#endif
