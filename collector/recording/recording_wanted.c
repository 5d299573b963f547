// SPDX-License-Identifier: Apache-2.0
/*
 * Tells the sampler whose samples a recording wants, and the clock whose threads; see recording.h.
 * A sampler that can do without the others' has the kernel leave them out.
 */
#include "recording/recording.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define WANTED_NS  (100 * CLOCK_NS_PER_MS)
#define OPENING_NS (10 * CLOCK_NS_PER_MS)

/* Who may become a JVM is wanted: what it does before its agent is heard belongs to it. */
static bool is_wanted(struct recording *recording, const struct process *process, uint64_t now_ns)
{
	return !process->gone_ns &&
	       (recording_selects(recording, process) || recording_is_starting(process, now_ns));
}

/* Events of JVMs are being opened: what the JVMs do until then is not seen. */
static void hurry(struct recording *recording, uint64_t now_ns)
{
	recording->wanted_ns = now_ns + OPENING_NS;
	if (recording->hasty_until_ns < now_ns + WANTED_NS)
		recording->hasty_until_ns = now_ns + WANTED_NS;
}

static void want_probes(struct recording *recording, const pid_t *pids, const uint64_t *groups,
			size_t n)
{
	_cleanup_free_ uint64_t *sorted = malloc((n + 1) * sizeof(*sorted));

	if (!sorted)
		return; /* those that were wanted stay so */
	memcpy(sorted, groups, n * sizeof(*sorted));
	sampler_want_probes(recording->sampler, pids, groups, n, owner_count_groups(sorted, n));
}

void recording_tell_wanted(struct recording *recording, const struct recording_model *model,
			   uint64_t now_ns)
{
	const struct targets *const targets = model->targets;
	const struct process *process;
	_cleanup_free_ uint64_t *groups = NULL;
	_cleanup_free_ pid_t *pids = NULL;
	_cleanup_free_ const struct process **processes = NULL;
	struct probe_arms_stats probes;
	size_t pos = 0, n = 0;

	const bool is_for_sampler = !recording->options.all && sampler_is_bpf(recording->sampler);

	if (now_ns < recording->wanted_ns ||
	    (!is_for_sampler && !recording->clock && !recording->arms))
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
	if (is_for_sampler)
		sampler_want(recording->sampler, pids, n);
	if (recording->clock)
		thread_clock_want(recording->clock, pids, groups, n);
	if (recording->arms) {
		want_probes(recording, pids, groups, n);
		probe_arms_want(recording->arms, model->tables, processes, n, now_ns,
				recording->end_ns);
		probe_arms_stats(recording->arms, &probes);
		if (probes.fresh > 0)
			hurry(recording, now_ns);
	}
}
