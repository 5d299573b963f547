// SPDX-License-Identifier: Apache-2.0
/*
 * Tells the sources whose samples a recording wants, see recording.h. A sampler that can do without
 * the others' has the kernel leave them out.
 */
#include "recording/recording.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <stdlib.h>

#define WANTED_NS  (100 * CLOCK_NS_PER_MS)
#define OPENING_NS (10 * CLOCK_NS_PER_MS)

/* Who may become a JVM is wanted: what it does before its agent connects belongs to it. */
static bool is_wanted(struct recording *recording, const struct process *process, uint64_t now_ns)
{
	return !process->gone_ns &&
	       (recording_selects(recording, process) || recording_is_starting(process, now_ns));
}

void recording_hurry(struct recording *recording, uint64_t now_ns)
{
	recording->wanted_ns = now_ns + OPENING_NS;
	if (recording->hasty_until_ns < now_ns + WANTED_NS)
		recording->hasty_until_ns = now_ns + WANTED_NS;
}

static bool is_any_told(const struct recording *recording)
{
	bool is_told = false;

	for (const struct sample_source *s = recording->sources; s && !is_told; s = s->next)
		is_told = s->is_told;
	return is_told;
}

void recording_tell_wanted(struct recording *recording, struct recording_model *model,
			   uint64_t now_ns)
{
	const struct recording_context context = {.recording = recording, .model = model};
	const struct targets *const targets = model->targets;
	const struct process *process;
	_cleanup_free_ uint64_t *groups = NULL;
	_cleanup_free_ pid_t *pids = NULL;
	_cleanup_free_ const struct process **processes = NULL;
	struct source_wanted wanted;
	size_t pos = 0, n = 0;

	if (now_ns < recording->wanted_ns || !is_any_told(recording))
		return;
	recording->wanted_ns = now_ns + WANTED_NS;
	pids = malloc((targets->processes.count + 1) * sizeof(*pids));
	groups = malloc((targets->processes.count + 1) * sizeof(*groups));
	processes = malloc((targets->processes.count + 1) * sizeof(*processes));
	if (!pids || !groups || !processes)
		return; /* those that were wanted stay so */
	while ((process = targets_next(targets, &pos))) {
		if (!is_wanted(recording, process, now_ns))
			continue;
		groups[n] = owner_group(process->owner);
		processes[n] = process;
		pids[n++] = process->pid;
	}
	wanted = (struct source_wanted){
		.pids = pids, .groups = groups, .processes = processes, .n = n, .now_ns = now_ns};
	for (struct sample_source *s = recording->sources; s; s = s->next) {
		if (s->is_told)
			s->ops->want(s, &context, &wanted);
	}
}
