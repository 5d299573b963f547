// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   address and time -> the piece of generated code that was there then
 * units:   addr in the target's address space, sizes bytes, times CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  negative errno; a failed operation leaves the map as it was
 * source:  JVMTI CompiledMethodLoad, CompiledMethodUnload, DynamicCodeGenerated
 *
 * Addresses are reused, so every range has a birth and a death, and every look-up takes a time.
 * Events lag the code by up to 100 ms, therefore a look-up at an address and time answers, in this
 * order: the range that lives there then; else the next one to be born there; else the last one
 * that died there, if nothing has been born there since. Two ranges never both live at one address:
 * a load ends whatever it overlaps, at the time of its own birth (stubs have no unload).
 *
 * Times that contradict what is known are corrected: nobody dies before its birth, and nobody is
 * born before the last death at any address of its own.
 *
 * Names are borrowed from the caller's struct intern and must outlive the map; equal names are
 * equal pointers.
 */
#ifndef FG_CODE_CODE_MAP_H
#define FG_CODE_CODE_MAP_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_TIME_FOREVER  UINT64_MAX
#define CODE_LEVEL_UNKNOWN 255

/*
 * The most ranges a map holds, living and dead, and the most page-sized pieces they may be indexed
 * by: about 140 MB at worst. HotSpot's largest code cache, 2 GiB, full of 4 KiB methods has as
 * many. Where a limit is met (also 512 ranges on a page), the oldest dead range makes way, and if
 * there is none, the newcomer is rejected. Of ranges larger than 256 KiB there may be 64, and their
 * dead make way by code_map_expire alone, because to add one is expensive.
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
 * A frame of compiled code, for an unwinder without frame pointers: from complete on and outside of
 * the epilogue the caller's frame begins size bytes above the stack pointer, and the 8 bytes below
 * that are the return address. All is 0 where nothing is known. Offsets are from the range's addr
 * and not beyond its end.
 */
struct code_frame {
	uint32_t size;	   /* bytes, a multiple of 8; 0: not known */
	uint32_t complete; /* 0: not known, as for most stubs whose size is known */
	uint32_t entry;	   /* the verified entry point */
};

#define CODE_FRAME_MAX_BYTES (1u << 20)

struct code_range {
	uint64_t addr;
	uint32_t size;	     /* never 0, addr + size does not wrap */
	uint8_t kind;	     /* enum code_kind */
	uint8_t level;	     /* compile level 0 to 4, or CODE_LEVEL_UNKNOWN */
	bool is_rest;	     /* of dead code of which the other part has been replaced */
	uint32_t dump_index; /* its number in a jitdump; 0: it is in none */
	struct code_frame frame;
	uint64_t birth_ns;
	uint64_t death_ns;	      /* CODE_TIME_FOREVER while it lives */
	const char *class_name;	      /* java/lang/String; NULL for a stub */
	const char *name;	      /* of the method or stub */
	const char *signature;	      /* (I)V; NULL for a stub */
	const char *source_file;      /* String.java; NULL if not known */
	struct inline_table *inlines; /* NULL if not known */
};

struct code_map_stats {
	size_t live;	  /* ranges without a death */
	size_t dead;	  /* for held samples, or because nothing took their place */
	uint64_t loads;	  /* added since init, repeats not counted */
	uint64_t repeats; /* adds that said what was known already */
	uint64_t unloads;
	uint64_t unknown_unloads; /* of addresses at which nothing lived */
	uint64_t evicted;	  /* ended by an overlapping load rather than by an unload */
	uint64_t buried;	  /* ended by a resync that did not repeat them */
	uint64_t expired;	  /* dead ranges that were forgotten */
	uint64_t unlisted;	  /* ranges that code_map_list showed, and no longer shows */
	uint64_t relisted;	  /* ranges that it shows otherwise than it did */
	uint64_t rejected;	  /* adds with size 0, a wrapping range, no room or no memory */
	size_t bytes;		  /* memory of ranges and index, names excluded */
};

/* Whether a range has bytes at all, and an end that can be written down. */
static inline bool code_range_is_valid(uint64_t addr, uint32_t size)
{
	return size > 0 && addr <= UINT64_MAX - size;
}

/* Where a range lay. */
struct code_span {
	uint64_t addr;
	uint32_t size;
};

#define CODE_MAP_MAX_UNLISTED 512
#define CODE_MAP_RESTS	      2 /* in front of what was added, and behind it */

struct code_map; /* opaque */

int code_map_new(struct code_map **ret);
void code_map_free(struct code_map *map); /* NULL is legal */

/*
 * A piece of code was born at range->birth_ns (death_ns is ignored). A repeat, that is the same
 * addr, size, kind and names as what lives there, confirms it and changes nothing else; a stub that
 * a resync calls by the beginning of its name is a repeat too, because HotSpot does so. is_resync
 * says that the time is not the birth: the range is then taken to have lived since the last death
 * at any of its addresses, or always; what it finds alive there ended when the resync began.
 * -EINVAL for size 0 or a range that wraps, -ENOSPC, -ENOMEM.
 * Takes range->inlines in any case; a repeat's is dropped, unless there was none, and so is its
 * frame. Returns 1 if the map changed, 0 if it was a repeat.
 */
int code_map_add(struct code_map *map, const struct code_range *range, bool is_resync);

/* What starts at addr dies. Returns 1, or 0 if nothing that lives starts there (counted). */
int code_map_remove(struct code_map *map, uint64_t addr, uint64_t time_ns);

/*
 * Between begin and a complete end the agent repeats all that lives. What was known before begin
 * and was not added again since dies at the end, with begin's time. Returns how many died. An end
 * without a begin, or one that is not complete, changes nothing. The end costs what it buries,
 * however much lives.
 */
void code_map_resync_begin(struct code_map *map, uint64_t time_ns);
size_t code_map_resync_end(struct code_map *map, bool complete);

/* Borrowed until the next change of the map; NULL if nothing was ever known there. */
const struct code_range *code_map_find(const struct code_map *map, uint64_t addr, uint64_t time_ns);

/*
 * Where the last code_map_add that returned 1 took over a part of dead code, the parts that it left:
 * ranges of their own in lists, without frame and inlines, which no look-up finds. Borrowed until
 * the map's next change. Returns their number.
 */
size_t code_map_rests(const struct code_map *map, const struct code_range *ret[CODE_MAP_RESTS]);

/*
 * Forgets ranges that died before horizon_ns and of which any byte has been taken over by others.
 * Dead ranges that nothing replaced stay, up to max_dead of them; beyond that they go in the order
 * in which their deaths became known, but none that died at horizon_ns or later.
 */
void code_map_expire(struct code_map *map, uint64_t horizon_ns, size_t max_dead);

/*
 * All that belongs into a perf map, in rising order of address and without overlap: what lives, and
 * dead code as far as it has not been replaced. Only what was added since code_map_mark returned
 * since; 0 is everything. As long as stats.relisted stays what it was, a later list adds to an
 * earlier one, and takes back what code_map_unlisted tells. An array of borrowed ranges that the
 * caller frees, valid until the map's next change. Returns their number or -ENOMEM.
 */
ssize_t code_map_list(const struct code_map *map, uint64_t since, const struct code_range ***ret);
uint64_t code_map_mark(const struct code_map *map);

/*
 * Where the ranges lay that are no longer shown since stats.unlisted was that, in rising order. ret
 * has room for CODE_MAP_MAX_UNLISTED. Returns their number, or -ENOSPC if there are more.
 */
ssize_t code_map_unlisted(const struct code_map *map, uint64_t since, struct code_span *ret);

/*
 * Replaces each name of every range, living or dead, by what fn returns for it: for a caller that
 * moves its names elsewhere. Names that were equal must stay so; NULL is not shown to fn.
 */
typedef const char *(*code_map_rename_fn)(void *arg, const char *name);
void code_map_rename(struct code_map *map, code_map_rename_fn fn, void *arg);

void code_map_stats(const struct code_map *map, struct code_map_stats *ret);

#endif
