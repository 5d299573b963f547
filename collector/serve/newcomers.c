// SPDX-License-Identifier: Apache-2.0
/*
 * Looks for JVMs that are about to become known, see newcomers.h. One small file is read of each
 * process of the host, and all that identifies a process of those that have just begun. Nothing is
 * kept of them.
 */
#include "serve/newcomers.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/process_stat.h"
#include "inspect/diagnose_process.h"

#include <stdlib.h>

struct search {
	struct engine *engine;
	struct selection selection; /* without the parts that need an agent */
	bool takes_any;		    /* also processes that may turn out to be JVMs later */
	size_t count;
};

static int begin(struct search *search, const struct recording_options *options)
{
	struct selector selector = options->select;

	selector.jvm[0] = '\0';
	selector.n_labels = 0;
	search->takes_any = options->pid > 0 || !selector_is_empty(&selector);
	return selection_init(&search->selection, &selector);
}

static bool is_unreached(const struct outreach *outreach, pid_t pid)
{
	const struct outreach_agent *agent = outreach_find(outreach, pid);

	return agent && !(agent->session && agent->is_greeted);
}

/* Whether the process may soon have an agent that tells of its code. */
static bool is_promising(const struct search *search, const struct process *process,
			 uint64_t age_ns)
{
	return is_unreached(&search->engine->outreach, process->pid) ||
	       (process_has_libjvm(process) && age_ns < DIAGNOSE_STARTING_NS) ||
	       (search->takes_any && age_ns < DIAGNOSE_YOUNG_NS);
}

/* Whether a process fits that targets do not know. Its facts are read as targets reads them. */
static bool fits_unknown(const struct search *search, pid_t pid, uint64_t age_ns)
{
	struct containers *containers = &search->engine->targets.containers;
	struct process *process;
	bool is_fit;

	if (process_new(pid, 0, SPACE_UPKEEP_NS, &process) < 0)
		return false;
	process->container = containers_hold(containers, pid, clock_now_ns());
	process_identify(process);
	is_fit = is_promising(search, process, age_ns) &&
		 selection_fits(&search->selection, process);
	containers_release(containers, process->container);
	process_free(process);
	return is_fit;
}

static bool fits(const struct search *search, pid_t pid)
{
	const struct process *process = targets_find(&search->engine->targets, pid);
	uint64_t age_ns;

	if (process && process->jvm && process->jvm->state <= JVM_CURRENT)
		return process->jvm->state != JVM_CURRENT &&
		       selection_fits(&search->selection, process);
	age_ns = process_stat_age_ns(pid);
	return (age_ns < DIAGNOSE_STARTING_NS || is_unreached(&search->engine->outreach, pid)) &&
	       fits_unknown(search, pid, age_ns);
}

static void consider(struct search *search, pid_t pid)
{
	if (search->count == NEWCOMERS_MAX || !fits(search, pid))
		return;
	outreach_expect(&search->engine->outreach, pid, clock_now_ns());
	search->count++;
}

static void consider_all(struct search *search)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0)
			consider(search, pid);
	}
}

size_t newcomers_expect(struct engine *engine, const struct recording_options *options)
{
	struct search search = {.engine = engine};

	if (begin(&search, options) < 0)
		return 0;
	if (options->pid > 0)
		consider(&search, options->pid);
	else
		consider_all(&search);
	selection_fini(&search.selection);
	return search.count;
}
