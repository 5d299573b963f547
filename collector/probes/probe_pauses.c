// SPDX-License-Identifier: Apache-2.0
/* Pauses of probes, see probe_pauses.h. */
#include "probes/probe_pauses.h"

#include "base/clock.h"
#include "probes/probe_sample.h"

uint64_t probe_pauses_length(uint64_t stretch_ns, uint64_t hits)
{
	const uint64_t enough_ns = hits * (CLOCK_NS_PER_SEC / PROBE_PAUSES_MOST_HZ);

	if (enough_ns <= stretch_ns)
		return 0;
	return enough_ns - stretch_ns < PROBE_PAUSES_MAX_NS ? enough_ns - stretch_ns
							    : PROBE_PAUSES_MAX_NS;
}

void probe_pauses_add(struct probe_pauses *pauses, const struct probe_pause *pause)
{
	pauses->kept[pauses->count++ % PROBE_PAUSES_KEPT] = *pause;
}

static size_t count_kept(const struct probe_pauses *pauses)
{
	return pauses->count < PROBE_PAUSES_KEPT ? (size_t)pauses->count : PROBE_PAUSES_KEPT;
}

/* The recording may have ended earlier than it was to when the pause began. */
static uint64_t pause_until_end(const struct probe_pause *pause, uint64_t end_ns)
{
	const uint64_t rest_ns = end_ns > pause->to_ns ? end_ns - pause->to_ns : 0;

	return pause->pause_ns < rest_ns ? pause->pause_ns : rest_ns;
}

uint64_t probe_pauses_weight(const struct probe_pauses *pauses, const struct record *record,
			     uint64_t end_ns)
{
	const size_t n = count_kept(pauses);
	const uint64_t weight = record->sample.weight;

	if (record->sample.kind != SAMPLE_OF_PARK && record->sample.kind != SAMPLE_OF_EXCEPTION)
		return weight;
	for (size_t i = 0; i < n; i++) {
		const struct probe_pause *const pause = &pauses->kept[i];
		const uint64_t open_ns = pause->to_ns - pause->from_ns;

		if (pause->pid == record->pid && record->time_ns >= pause->from_ns &&
		    record->time_ns < pause->to_ns)
			return probe_sample_scaled(weight, open_ns + pause_until_end(pause, end_ns),
						   open_ns, record->time_ns);
	}
	return weight;
}

bool probe_pauses_are_spanned(const struct probe_pauses *pauses, const struct record *record)
{
	const size_t n = count_kept(pauses);
	const uint64_t began_ns = record->time_ns - record->sample.probe.amount;

	for (size_t i = 0; record->sample.kind == SAMPLE_OF_PARK && i < n; i++) {
		const struct probe_pause *const pause = &pauses->kept[i];

		if (pause->pid == record->pid && began_ns < pause->to_ns &&
		    record->time_ns > pause->to_ns)
			return true;
	}
	return false;
}
