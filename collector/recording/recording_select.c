// SPDX-License-Identifier: Apache-2.0
/* Decides which processes' samples belong to a recording, see recording.h. */
#include "recording/recording.h"

#include "base/log.h"

size_t recording_alternatives(const struct recording_options *options)
{
	return options->n_more_pids + selector_alternatives(&options->select);
}

void recording_alternative(const struct recording_options *options, size_t number,
			   struct recording_options *ret)
{
	*ret = *options;
	ret->n_more_pids = 0;
	if (options->n_more_pids == 0)
		selector_alternative(&options->select, number, &ret->select);
	else if (number > 0)
		ret->pid = options->more_pids[number - 1];
}

bool recording_has_pid(const struct recording_options *options, pid_t pid)
{
	bool has = pid == options->pid;

	for (size_t i = 0; i < options->n_more_pids && !has; i++)
		has = pid == options->more_pids[i];
	return has;
}

bool recording_looks_outside(const struct recording_options *options)
{
	return !options->all && options->pid == 0 && !selector_is_empty(&options->select);
}

bool recording_is_of_interest(const struct recording_options *options,
			      const struct process *process)
{
	if (options->pid > 0)
		return process && recording_has_pid(options, process->pid);
	if (options->all)
		return true;
	if (!process)
		return false;
	return (process_is_jvm(process) && process_has_agent(process)) ||
	       (recording_looks_outside(options) && process->users > 0 &&
		process_has_libjvm(process));
}

void recording_want_outside(struct recording *recording, struct targets *targets)
{
	struct process *process;
	size_t pos = 0, left_out = 0;

	while ((process = targets_next(targets, &pos))) {
		if (process->gone_ns || process_has_agent(process) ||
		    !process_has_libjvm(process) ||
		    !selections_fit(&recording->selections, process))
			continue;
		if (recording->n_outside < RECORDING_MAX_OUTSIDE)
			recording->outside[recording->n_outside++] = process->pid;
		else
			left_out++;
	}
	recording->counts.outside_left_out += left_out;
	for (size_t i = 0; i < recording->n_outside; i++)
		targets_want(targets, recording->outside[i]);
	if (left_out > 0)
		log_warning("%zu JVMs without the agent fit and are left out: a recording by name "
			    "has %d of them",
			    left_out, RECORDING_MAX_OUTSIDE);
}

void recording_unwant_outside(struct recording *recording, struct targets *targets)
{
	for (size_t i = 0; i < recording->n_outside; i++)
		targets_unwant(targets, recording->outside[i]);
	recording->n_outside = 0;
}

bool recording_selects(struct recording *recording, const struct process *process)
{
	if (!recording_is_of_interest(&recording->options, process))
		return false;
	if (selector_is_empty(&recording->options.select))
		return true;
	return process && selections_want(&recording->selections, process);
}

bool recording_wants(const struct recording_options *options, const struct process *process)
{
	struct selections selections;
	bool fits;

	if (!recording_is_of_interest(options, process))
		return false;
	if (selector_is_empty(&options->select))
		return true;
	if (!process || selections_init(&selections, &options->select) < 0)
		return false;
	fits = selections_fit(&selections, process);
	selections_fini(&selections);
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
