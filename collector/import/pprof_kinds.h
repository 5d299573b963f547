// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the types of values of a pprof profile -> kinds of samples
 * units:   those of the types; times become microseconds
 * threads: any, a value
 * errors:  negative errno; reason is a static text that explains it
 * source:  types as they are written by Go's runtime, by profilers for Node.js and Python that
 *          write pprof, by the profilers of OpenTelemetry and Parca, and by render/pprof.c
 *
 * Each type is a kind, with these exceptions:
 *
 *   samples/count, cpu/nanoseconds   one kind, cpu: samples. The time is the count times the period
 *   wall/nanoseconds, wall-time/...  the kind wall
 *   off_cpu/nanoseconds, ...         the kind offcpu
 *   alloc_space/bytes                the kind alloc
 *   alloc_objects/count              the kind objects
 *   delay/nanoseconds                the kind lock
 *   contentions/count, exceptions/count   the kinds of these names
 *
 * samples/count counts the samples of the type behind it. Only if that is processor time, or if the
 * profile has no times, these are samples of processor time. All other types are kinds of their own
 * name and unit.
 *
 * The first kind is that of the default type; without a default type, that of the last type. The
 * other kinds follow in the order of the file, but alloc stands before objects, and lock before
 * contentions.
 */
#ifndef FG_IMPORT_PPROF_KINDS_H
#define FG_IMPORT_PPROF_KINDS_H

#include "profile/profile_kind.h"

#include <stddef.h>
#include <stdint.h>

#define PPROF_KINDS_MAX 64u /* types of one profile */

struct pprof_type {
	const char *name, *unit;
};

struct pprof_kind {
	char name[PROFILE_KIND_BYTES];
	char unit[PROFILE_KIND_BYTES];
	uint32_t value; /* which of a sample's values is taken */
	/* what a value is multiplied by, then divided by, to be in the unit */
	uint32_t multiplier, divisor;
};

struct pprof_kinds {
	struct pprof_kind items[PPROF_KINDS_MAX];
	size_t n; /* at least 1 */
	const char *reason;
};

/* default_type "": there is none. -EINVAL, -EFBIG. */
int pprof_kinds_init(struct pprof_kinds *kinds, const struct pprof_type *types, size_t n,
		     const char *default_type);

/* An amount of that type in nanoseconds of processor time. 0: it is of something else. */
uint64_t pprof_kinds_cpu_ns(const struct pprof_type *type, uint64_t amount);

/* A value that is not negative, in the kind's unit; UINT64_MAX if it is greater than that. */
uint64_t pprof_kind_weight(const struct pprof_kind *kind, uint64_t value);

#endif
