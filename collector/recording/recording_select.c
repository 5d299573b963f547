// SPDX-License-Identifier: Apache-2.0
/*
 * Decides which processes' samples belong to a recording, and finds JVMs without an agent by their
 * names, at the beginning and later; see recording.h.
 *
 * Of a program that begins the kernel tells, and the program is searched when a sample of its
 * first moments comes (recording_receive.c). A launcher may load libjvm.so later than that, and a
 * shell may wait before it becomes a JVM: so each program that nobody knows is searched again.
 */
#include "recording/recording.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/process_stat.h"

#include <dirent.h>
#include <stdlib.h>

#define SEARCH_NS (100 * CLOCK_NS_PER_MS)

/* libjvm.so alone has more code; a status file tells how much a process has. */
#define LEAST_CODE_BYTES (UINT64_C(3) << 20)

static const uint64_t search_ages_ns[RECORDING_PROGRAM_SEARCHES] = {
	250 * CLOCK_NS_PER_MS,	500 * CLOCK_NS_PER_MS,	1000 * CLOCK_NS_PER_MS,
	2000 * CLOCK_NS_PER_MS, 4000 * CLOCK_NS_PER_MS, 8000 * CLOCK_NS_PER_MS,
};

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

bool recording_searches_outside(const struct recording_options *options)
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
	       (recording_searches_outside(options) && process->users > 0 &&
		process_has_libjvm(process));
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

/* ---- JVMs without an agent ---- */

/* Whether the JVM is still the one that was found, and is known. */
static bool is_same(const struct targets *targets, const struct recording_found *found)
{
	const struct process *const process = targets_find(targets, found->pid);

	return process && process->start_ticks == found->start_ticks;
}

/* The process itself wants nothing any more if it is another one. */
static void unwant(struct targets *targets, const struct recording_found *found)
{
	targets_unwant(targets, is_same(targets, found) ? found->pid : 0);
}

/* A JVM whose agent has come meanwhile is recorded as any other with an agent. */
static bool is_outside(const struct targets *targets, const struct recording_found *found)
{
	return is_same(targets, found) && !process_has_agent(targets_find(targets, found->pid));
}

static void forget_gone(struct recording *recording, struct targets *targets)
{
	size_t n = 0;

	for (size_t i = 0; i < recording->n_outside; i++) {
		if (is_outside(targets, &recording->outside[i]))
			recording->outside[n++] = recording->outside[i];
		else
			unwant(targets, &recording->outside[i]);
	}
	recording->n_outside = n;
}

static bool is_found(const struct recording *recording, const struct process *process)
{
	bool is_found = false;

	for (size_t i = 0; i < recording->n_outside && !is_found; i++)
		is_found = recording->outside[i].pid == process->pid;
	return is_found;
}

static bool is_meant(struct recording *recording, struct process *process)
{
	return !process->gone_ns && !process_has_agent(process) &&
	       process_maps_libjvm_now(process) &&
	       selections_want(&recording->selections, process) && !is_found(recording, process);
}

/* Counts each of them once. */
static void leave_out(struct recording *recording, const struct process *process)
{
	const uintptr_t ticks = (uintptr_t)process->start_ticks | 1;

	if ((uintptr_t)map64_find(&recording->left_out, (uint64_t)process->pid) == ticks)
		return;
	if (recording->counts.outside_left_out++ == 0)
		log_warning("more JVMs without the agent fit than a recording by name has, which "
			    "is %d: PID %d and others are left out",
			    RECORDING_MAX_OUTSIDE, (int)process->pid);
	/* Without memory it is counted again. */
	map64_put(&recording->left_out, (uint64_t)process->pid, (void *)ticks);
}

size_t recording_want_outside(struct recording *recording, struct targets *targets)
{
	struct process *process;
	size_t pos = 0, first;

	forget_gone(recording, targets);
	first = recording->n_outside;
	while ((process = targets_next(targets, &pos))) {
		if (!is_meant(recording, process))
			continue;
		if (recording->n_outside == RECORDING_MAX_OUTSIDE) {
			leave_out(recording, process);
			continue;
		}
		recording->outside[recording->n_outside++] =
			(struct recording_found){process->pid, process->start_ticks};
	}
	/* To want a process may change the table that is walked above. */
	for (size_t i = first; i < recording->n_outside; i++)
		targets_want(targets, recording->outside[i].pid);
	if (recording->n_outside > first)
		recording->wanted_ns = 0; /* the sampler is told at once */
	return recording->n_outside - first;
}

void recording_unwant_outside(struct recording *recording, struct targets *targets)
{
	for (size_t i = 0; i < recording->n_outside; i++)
		unwant(targets, &recording->outside[i]);
	recording->n_outside = 0;
	if (recording->asks_names)
		targets_unwant_names(targets);
	recording->asks_names = false;
}

/* Whether the program has come to one of the ages since the last search. */
static bool is_due(uint64_t exec_ns, uint64_t searched_ns, uint64_t now_ns)
{
	bool is_due = false;

	for (size_t i = 0; i < RECORDING_PROGRAM_SEARCHES && !is_due; i++)
		is_due = exec_ns + search_ages_ns[i] > searched_ns &&
			 exec_ns + search_ages_ns[i] <= now_ns;
	return is_due;
}

static bool is_since(pid_t pid, pid_t last, pid_t now)
{
	return last <= now ? pid > last && pid <= now : pid > last || pid <= now;
}

void recording_note_programs(struct recording *recording, const struct targets *targets)
{
	const pid_t last = recording->options.last_pid, now = process_stat_last_pid();
	_cleanup_closedir_ DIR *dir = last > 0 ? opendir("/proc") : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) && recording->execs.count < RECORDING_MAX_EXECS) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || !is_since(pid, last, now) || targets_find(targets, pid))
			continue;
		map64_put(&recording->execs, (uint64_t)pid, (void *)(uintptr_t)recording->start_ns);
		recording->program_young_until_ns =
			recording->start_ns + RECORDING_PROGRAM_YOUNG_NS;
	}
}

/* Looks at programs that have begun and that nobody knows. */
static void search_programs(struct recording *recording, struct recording_model *model,
			    uint64_t now_ns)
{
	size_t pos = 0;
	uint64_t pid;
	void *exec_ns;

	while (map64_next(&recording->execs, &pos, &pid, &exec_ns)) {
		struct process *process;

		if (!is_due((uintptr_t)exec_ns, recording->searched_ns, now_ns) ||
		    targets_find(model->targets, (pid_t)pid) ||
		    process_stat_code_bytes((pid_t)pid) < LEAST_CODE_BYTES ||
		    !recording_take_place(recording, now_ns) || !process_maps_libjvm((pid_t)pid))
			continue;
		process = targets_find_or_read(model->targets, (pid_t)pid);
		if (process)
			recording_note_jvm(recording, model, process, now_ns);
	}
	recording->searched_ns = now_ns;
}

/* Takes hold of the files of the last ones that were found. */
static void discover_last(struct recording *recording, struct recording_model *model, size_t n)
{
	for (size_t i = recording->n_outside - n; i < recording->n_outside; i++) {
		struct process *const process =
			targets_find(model->targets, recording->outside[i].pid);

		if (process)
			recording_discover(recording, model, process);
	}
}

void recording_search_outside(struct recording *recording, struct recording_model *model,
			      uint64_t now_ns)
{
	if (now_ns < recording->search_ns || !recording_searches_outside(&recording->options))
		return;
	recording->search_ns = now_ns + SEARCH_NS;
	search_programs(recording, model, now_ns);
	discover_last(recording, model, recording_want_outside(recording, model->targets));
}
