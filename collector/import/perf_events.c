// SPDX-License-Identifier: Apache-2.0
/* Which samples of perf script are kept, and what they weigh; see perf_events.h. */
#include "import/perf_events.h"

#include <stdio.h>
#include <string.h>

#define NS_PER_US 1000

static bool is_event(struct perf_text event, const char *wanted)
{
	const size_t len = strlen(wanted);

	if (event.len < len || memcmp(event.text, wanted, len) != 0)
		return false;
	/* "cycles" also means "cycles:Pu" */
	return event.len == len ||
	       (event.text[len] == ':' &&
		strspn(event.text + len + 1, "ukhGHpPSDIWeb") >= event.len - len - 1);
}

static void keep_event(char ret[IMPORT_EVENT_BYTES], struct perf_text event)
{
	if (!ret[0])
		snprintf(ret, IMPORT_EVENT_BYTES, "%.*s", (int)event.len, event.text);
}

bool perf_events_wants(struct perf_events *events, struct perf_text event)
{
	struct import_report *const report = events->report;
	const char *const asked = events->options->event;
	bool is_wanted;

	if (event.len >= IMPORT_EVENT_BYTES)
		event.len = IMPORT_EVENT_BYTES - 1;
	if (asked)
		is_wanted = is_event(event, asked);
	else
		is_wanted = !events->has_event ||
			    (event.len == strlen(report->event) &&
			     strncmp(report->event, event.len ? event.text : "", event.len) == 0);
	if (is_wanted) {
		events->has_event = true;
		keep_event(report->event, event);
		return true;
	}
	keep_event(report->other_event, event);
	report->other_events++;
	return false;
}

const struct profile_kind *perf_events_kind(const struct perf_events *events,
					    const struct perf_header *header)
{
	static const struct {
		const char *event;
		const struct profile_kind *kind;
	} kinds[] = {
		{"wall-clock", &profile_kind_wall},
		{"offcpu-time", &profile_kind_offcpu},
		{"alloc", &profile_kind_alloc},
		{"objects", &profile_kind_objects},
		{"live", &profile_kind_live},
		{"live_objects", &profile_kind_live_objects},
		{"lock", &profile_kind_lock},
		{"contentions", &profile_kind_contentions},
		{"exceptions", &profile_kind_exceptions},
	};

	if (header->period == 0 || events->options->counts_samples)
		return &profile_kind_cpu;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (is_event(header->event, kinds[i].event))
			return kinds[i].kind;
	return &profile_kind_cpu;
}

uint64_t perf_events_weight(const struct perf_events *events, const struct profile_kind *kind,
			    const struct perf_header *header)
{
	if (header->period == 0 || events->options->counts_samples)
		return 1;
	if (!profile_kind_is_time(kind))
		return header->period;
	return header->period / NS_PER_US + (header->period % NS_PER_US >= NS_PER_US / 2);
}
