// SPDX-License-Identifier: Apache-2.0
/* Parts of graphs, see period_parts.h. */
#include "sinks/period_parts.h"

#include "unwind/stack.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int period_facts_copy(struct period_facts *facts)
{
	const char **const texts[] = {&facts->event, &facts->host, &facts->kernel, &facts->boot_id};
	int err = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (!*texts[i])
			continue;
		*texts[i] = strdup(*texts[i]);
		if (!*texts[i])
			err = -ENOMEM;
	}
	return err;
}

void period_facts_free(struct period_facts *facts)
{
	free((void *)(uintptr_t)facts->event);
	free((void *)(uintptr_t)facts->host);
	free((void *)(uintptr_t)facts->kernel);
	free((void *)(uintptr_t)facts->boot_id);
	*facts = (struct period_facts){0};
}

static void describe(const struct period_facts *facts, const struct period *period,
		     const struct period_part *part, struct profile_info *ret)
{
	const struct profile_kind *const kind = part->kind->profile;
	const bool is_cpu = kind == &profile_kind_cpu;
	const unsigned wall_hz = profile_kind_is_of_threads(kind) ? facts->wall_hz : 0;

	*ret = (struct profile_info){
		.host = facts->host,
		.boot_id = facts->boot_id,
		.kernel = facts->kernel,
		.event = is_cpu ? facts->event : kind->name,
		.program = facts->program,
		.hz = is_cpu ? facts->hz : wall_hz,
		.start_unix_ns = period->start_unix_ns,
		.duration_ns = period->end_ns - period->start_ns,
		.quality = part->profile.quality,
	};
	for (int i = 0; i < STACK_ENDS; i++)
		ret->reasons[i] = stack_end_name((enum stack_end)i);
}

void period_parts_make(struct period_parts *parts, const struct period_facts *facts,
		       const struct period *period, struct period_graph *graph, bool with_empty)
{
	parts->n = 0;
	for (size_t i = 0; i < graph->n_parts; i++) {
		struct period_part *const part = &graph->parts[i];
		const size_t n = parts->n;

		if (!with_empty && part->profile.quality.samples == 0)
			continue;
		describe(facts, period, part, &parts->infos[n]);
		timeline_sort(&part->timeline);
		parts->parts[n] = (struct profile_part){.kind = part->kind->profile,
							.profile = &part->profile,
							.timeline = &part->timeline,
							.info = &parts->infos[n]};
		parts->n++;
	}
}
