// SPDX-License-Identifier: Apache-2.0
/* Decides which processes' samples belong to a recording, see recording.h. */
#include "live/recording.h"

bool recording_is_of_interest(const struct recording_options *options,
			      const struct process *process)
{
	if (options->pid > 0)
		return process && process->pid == options->pid;
	return options->all ||
	       (process && process_is_jvm(process) && process_has_agent(process));
}

bool recording_selects(struct recording *recording, const struct process *process)
{
	if (!recording_is_of_interest(&recording->options, process))
		return false;
	if (selector_is_empty(&recording->options.select))
		return true;
	return process && selection_wants(&recording->selection, process);
}

bool recording_wants(const struct recording_options *options, const struct process *process)
{
	struct selection selection;
	bool fits;

	if (!recording_is_of_interest(options, process))
		return false;
	if (selector_is_empty(&options->select))
		return true;
	if (!process || selection_init(&selection, &options->select) < 0)
		return false;
	fits = selection_fits(&selection, process);
	selection_fini(&selection);
	return fits;
}

static bool is_before_exec(const struct recording *recording, const struct record *record)
{
	const uint64_t exec_ns = (uintptr_t)map64_find(&recording->execs, (uint64_t)record->pid);

	return !recording->options.all && record->time_ns < exec_ns;
}

bool recording_wants_sample(struct recording *recording, const struct process *process,
			    const struct record *record)
{
	return record->pid != 0 && recording_selects(recording, process) &&
	       !is_before_exec(recording, record);
}
