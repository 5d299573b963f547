// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the event of a sample of perf script -> whether it is kept, its kind, its weight
 * units:   periods in the event's unit; weights in the kind's
 * threads: one at a time
 * errors:  none; samples of other events are counted in the report
 * source:  perf-record(1), its list of modifiers; render/perf_text.c
 *
 * Only one of several events is kept, because their periods cannot be added. Periods of the events
 * wall-clock, offcpu-time and lock are nanoseconds: these are the kinds wall, offcpu and lock. The
 * events alloc, objects, live, live_objects, contentions and exceptions are the kinds of these
 * names. All other events are of the kind cpu.
 */
#ifndef FG_IMPORT_PERF_EVENTS_H
#define FG_IMPORT_PERF_EVENTS_H

#include "import/import_options.h"
#include "import/import_report.h"
#include "import/perf_header.h"
#include "profile/profile_kind.h"

#include <stdbool.h>
#include <stdint.h>

struct perf_events {
	const struct import_options *options;
	struct import_report *report;
	bool has_event; /* an event was chosen, which may have no name */
};

/* Whether the event is the one that was asked for, or else the first one. */
bool perf_events_wants(struct perf_events *events, struct perf_text event);

/* Without periods samples are counted, whatever their event is. */
const struct profile_kind *perf_events_kind(const struct perf_events *events,
					    const struct perf_header *header);

uint64_t perf_events_weight(const struct perf_events *events, const struct profile_kind *kind,
			    const struct perf_header *header);

#endif
