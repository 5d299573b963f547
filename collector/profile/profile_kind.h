// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the weights of a profile count -> a name, a unit, and amounts as people read them
 * units:   those that a kind says
 * threads: any, a value
 * errors:  none
 * source:  pprof's profile.proto: types of values
 *
 * A recording holds one profile for each kind of samples that was asked for. fgcollect knows the
 * kinds listed below. A file may hold kinds of later versions: these are kept under their name, and
 * amounts are shown with the file's unit.
 *
 *   cpu          samples of processor time
 *   wall         the time that threads existed, running or not, in microseconds
 *   offcpu       the part of wall in which threads did not run, in microseconds
 *   alloc        memory that was allocated, in bytes
 *   objects      objects that were allocated
 *   live         the part of alloc that had not been collected at the recording's end, in bytes
 *   live_objects the same part of objects
 *   lock         the time that threads waited for contended locks, in microseconds
 *   contentions  waits for contended locks
 *   exceptions   exceptions
 */
#ifndef FG_PROFILE_PROFILE_KIND_H
#define FG_PROFILE_PROFILE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_MAX_KINDS	  8u  /* of one recording */
#define PROFILE_KIND_BYTES	  64u /* of a name or a unit, with its NUL */
#define PROFILE_AMOUNT_BYTES	  128u
#define PROFILE_GROUPED_BYTES	  32u
#define PROFILE_UNIT_SAMPLES	  "samples"
#define PROFILE_UNIT_MICROSECONDS "microseconds"
#define PROFILE_UNIT_BYTES	  "bytes"
#define PROFILE_UNIT_COUNT	  "count" /* of what the kind's name says */

struct profile_kind {
	const char *name; /* "cpu" */
	const char *unit; /* one of PROFILE_UNIT_, or a file's word */
};

extern const struct profile_kind profile_kind_cpu;
extern const struct profile_kind profile_kind_wall;
extern const struct profile_kind profile_kind_offcpu;
extern const struct profile_kind profile_kind_alloc;
extern const struct profile_kind profile_kind_objects;
extern const struct profile_kind profile_kind_live;
extern const struct profile_kind profile_kind_live_objects;
extern const struct profile_kind profile_kind_lock;
extern const struct profile_kind profile_kind_contentions;
extern const struct profile_kind profile_kind_exceptions;

/* The known kind of that name, or NULL. */
const struct profile_kind *profile_kind_find(const char *name);

/* Whether both have one name and one unit. */
bool profile_kind_is_same(const struct profile_kind *a, const struct profile_kind *b);

/* Whether weights of the kind are times: whole microseconds. */
bool profile_kind_is_time(const struct profile_kind *kind);

/* Whether the kind is the time of threads, which are read so many times a second: wall, offcpu. */
bool profile_kind_is_of_threads(const struct profile_kind *kind);

/* Whether weights of the kind are bytes. */
bool profile_kind_is_bytes(const struct profile_kind *kind);

/*
 * Whether amounts of the kind are a size with a unit of its own, as times and bytes are, and no
 * number of things that a noun names.
 */
bool profile_kind_is_measured(const struct profile_kind *kind);

/* What the weights are called beside a number: the unit, or of a mere count the kind's name. */
const char *profile_kind_noun(const struct profile_kind *kind);

/*
 * An amount for people: "1,234 samples", "12.3 s", "450 ms", "1.5 MiB". The page's script has the
 * same function in page/amount.js. Returns ret.
 */
const char *profile_kind_amount(const struct profile_kind *kind, uint64_t amount,
				char ret[PROFILE_AMOUNT_BYTES]);

/*
 * The same with the kind's name, if the amount does not say it: "12.3 s of wall", "1.5 MiB of
 * alloc", "1,234 objects". Returns ret.
 */
const char *profile_kind_amount_of(const struct profile_kind *kind, uint64_t amount,
				   char ret[PROFILE_AMOUNT_BYTES]);

/*
 * The same of what is called noun elsewhere: a number without commas, unless the kind is measured.
 * Returns ret.
 */
const char *profile_kind_plain_amount(const struct profile_kind *kind, uint64_t amount,
				      const char *noun, char ret[PROFILE_AMOUNT_BYTES]);

/* 1234567 as 1,234,567; the text is somewhere in buf. */
const char *profile_kind_grouped(uint64_t value, char buf[PROFILE_GROUPED_BYTES]);

#endif
