// SPDX-License-Identifier: Apache-2.0
/*
 * Looks for JVMs that are about to become known, see young_processes.h. One small file is read of
 * each process of the host, and all that identifies a process of those that have just begun.
 * Nothing is kept of them.
 */
#include "serve/young_processes.h"

#include "base/clock.h"
#include "base/process_stat.h"
#include "serve/dial_look.h"

#include <stdlib.h>
#include <string.h>

static bool is_unreached(const struct dialer *dialer, pid_t pid)
{
	const struct dialer_agent *agent = dialer_find(dialer, pid);

	return agent && !(agent->session && agent->is_greeted);
}

/*
 * Whether there is an agent that may dial. It may be in a JVM whose mappings this user may not
 * read. An agent that is off, and one of whose JVM this is a copy by fork(2), have no thread.
 */
static bool has_agent(const struct process *process)
{
	struct diagnose_dialler dialler;

	if (process->space.count == 0)
		return strcmp(process->comm, "java") == 0;
	return process_has_libjvm(process) && diagnose_read_dialler(process->pid, &dialler);
}

/* Whether the process's agent is not to be waited for any more. Without memory it is not. */
static bool has_dialled(struct map64 *dials, pid_t pid)
{
	struct dial_look *look = map64_find(dials, (uint64_t)pid);
	struct diagnose_dialler now;

	if (!diagnose_read_dialler(pid, &now))
		return false;
	if (!look) {
		look = calloc(1, sizeof(*look));
		if (!look || map64_put(dials, (uint64_t)pid, look) < 0) {
			free(look);
			return true;
		}
	}
	return dial_look_step(look, &now, clock_now_ns());
}

/* Whether the process may soon have an agent that tells of its code. */
static bool is_promising(const struct young_processes *search, const struct process *process,
			 uint64_t age_ns)
{
	if (is_unreached(&search->engine->dialer, process->pid))
		return true;
	return ((search->takes_old && has_agent(process)) ||
		(process_has_libjvm(process) && age_ns < DIAGNOSE_STARTING_NS) ||
		(search->takes_any && age_ns < DIAGNOSE_YOUNG_NS)) &&
	       !(search->dials && has_dialled(search->dials, process->pid));
}

/* Whether a process fits that targets do not know. Its facts are read as targets reads them. */
static bool fits_unknown(const struct young_processes *search, pid_t pid, uint64_t age_ns)
{
	struct containers *containers = &search->engine->targets.containers;
	struct process *process;
	bool is_fit;

	if (process_new(pid, 0, SPACE_UPKEEP_NS, &process) < 0)
		return false;
	process->container = containers_hold(containers, pid, clock_now_ns());
	process_identify(process);
	is_fit = is_promising(search, process, age_ns) &&
		 selections_fit(&search->selections, process);
	containers_release(containers, process->container);
	process_free(process);
	return is_fit;
}

static bool fits(const struct young_processes *search, pid_t pid)
{
	const struct process *process = targets_find(&search->engine->targets, pid);
	uint64_t age_ns;

	if (process && process->jvm && process->jvm->state <= JVM_CURRENT)
		return process->jvm->state != JVM_CURRENT &&
		       selections_fit(&search->selections, process);
	age_ns = process_stat_age_ns(pid);
	return (search->takes_old || age_ns < DIAGNOSE_STARTING_NS ||
		is_unreached(&search->engine->dialer, pid)) &&
	       fits_unknown(search, pid, age_ns);
}

static void consider(struct young_processes *search, pid_t pid)
{
	if (search->count == YOUNG_PROCESSES_MAX || !fits(search, pid))
		return;
	dialer_expect(&search->engine->dialer, pid, clock_now_ns());
	search->count++;
}

int young_processes_begin(struct young_processes *search, struct engine *engine,
			  const struct recording_options *options)
{
	struct selector selector = options->select;

	int err;

	selector.jvm[0] = '\0';
	selector.n_labels = 0;
	*search = (struct young_processes){
		.engine = engine,
		.takes_any = options->pid > 0 || !selector_is_empty(&selector),
		.n_pids = options->pid > 0 ? 1 + options->n_more_pids : 0,
		.pids = {options->pid},
	};
	memcpy(search->pids + 1, options->more_pids, sizeof(options->more_pids));
	err = selections_init(&search->selections, &selector);
	if (err)
		*search = (struct young_processes){0};
	else if (search->n_pids == 0)
		search->dir = opendir("/proc");
	return err;
}

int young_processes_begin_all(struct young_processes *search, struct engine *engine,
			      const struct recording_options *options)
{
	const int err = young_processes_begin(search, engine, options);

	search->takes_old = !err;
	return err;
}

bool young_processes_step(struct young_processes *search, uint64_t until_ns)
{
	const struct dirent *entry;

	for (size_t i = 0; i < search->n_pids; i++)
		consider(search, search->pids[i]);
	while (search->dir && (entry = readdir(search->dir))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0)
			continue;
		consider(search, pid);
		if (clock_now_ns() >= until_ns)
			return false;
	}
	return true;
}

void young_processes_end(struct young_processes *search)
{
	if (search->dir)
		closedir(search->dir);
	if (search->engine)
		selections_fini(&search->selections);
	*search = (struct young_processes){0};
}
