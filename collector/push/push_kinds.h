// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a kind of samples -> what engines call it: family, types and units of values, period
 * units:   nanoseconds where a weight is a time
 * threads: any, constant
 * errors:  none
 * source:  the list of profile types of Grafana's views; Pyroscope's conversion of OTLP, which
 *          takes the family from the period's type
 *
 *   kind         Pyroscope calls it                               and by OTLP
 *   cpu          process_cpu:cpu:nanoseconds:cpu:nanoseconds      the same
 *                process_cpu:samples:count:cpu:nanoseconds
 *   wall         wall:wall:nanoseconds:wall:nanoseconds           the same
 *   offcpu       off_cpu:off_cpu:nanoseconds:off_cpu:nanoseconds  off_cpu:off_cpu:nanoseconds::
 *   alloc        memory:alloc_space:bytes:space:bytes             memory:...:memory:bytes
 *   objects      memory:alloc_objects:count:space:bytes           memory:...:memory:bytes
 *   lock         mutex:delay:nanoseconds:mutex:count              the same
 *   contentions  mutex:contentions:count:mutex:count              the same
 *   exceptions   exceptions:exceptions:count:exceptions:count     the same
 */
#ifndef FG_PUSH_PUSH_KINDS_H
#define FG_PUSH_PUSH_KINDS_H

#include "profile/profile_kind.h"

struct push_kind {
	const struct profile_kind *kind;
	const char *family;	      /* __name__ */
	struct profile_kind as;	      /* the kind by the engines' name, for render_pprof */
	const char *period_type;      /* in pprof */
	const char *otlp_period_type; /* NULL: by OTLP there is no period */
	const char *period_unit;      /* of both */
};

/* NULL: the kind is not pushed, because it is of a later version. */
const struct push_kind *push_kind_of(const struct profile_kind *kind);

/* How much there is between two samples, in the period's unit; at least 1. */
uint64_t push_kind_period(const struct push_kind *kind, unsigned hz);

/* The type and unit of values by OTLP, and the factor that makes values of weights. */
const char *push_kind_type(const struct push_kind *kind);
const char *push_kind_unit(const struct push_kind *kind);
uint64_t push_kind_factor(const struct push_kind *kind);

#endif
