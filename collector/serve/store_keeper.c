// SPDX-License-Identifier: Apache-2.0
/* The thread that writes to a store, see store_keeper.h. */
#include "serve/store_keeper.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/process_stat.h"
#include "sinks/period_worker.h"
#include "store/store_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct store_keeper {
	struct store_keeper_options options; /* the texts are the keeper's copies */
	struct store *store;		     /* used by the thread only */
	bool has_failed;		     /* the last merge or removal failed, which was said */
	struct period_worker worker;
	struct store_keeper_stats stats; /* under the worker's lock */
};

/* The names of the graph's process. */
static void name_process(const struct store_keeper *keeper, const struct period_graph *graph,
			 struct store_process *ret)
{
	*ret = (struct store_process){
		.host = keeper->options.facts.host,
		.boot = keeper->options.facts.boot_id,
		.pid = graph->pid,
		.ticks = graph->start_ticks,
		.started_ns = clock_unix_now_ns() - process_stat_ticks_age_ns(graph->start_ticks),
		.title = period_graph_title(graph),
		.comm = graph->comm,
		.container = graph->container,
		.pod_uid = graph->pod_uid,
		.labels = graph->labels.labels,
		.n_labels = graph->labels.count,
	};
	for (size_t i = 0; i < graph->n_parts; i++) {
		const struct timeline *const timeline = &graph->parts[i].timeline;

		if (timeline->n_processes == 0)
			continue;
		ret->runtime = timeline->processes[0].runtime;
		ret->container_name = timeline->processes[0].container_name;
		ret->pod = timeline->processes[0].pod;
		ret->name_space = timeline->processes[0].name_space;
		return;
	}
}

static int write_window(struct store_keeper *keeper, const struct period *period,
			struct period_graph *graph)
{
	struct period_parts parts;
	struct store_window window;

	period_parts_make(&parts, &keeper->options.facts, period, graph, false);
	if (parts.n == 0)
		return 0;
	window = (struct store_window){
		.start_ns = period->start_unix_ns,
		.end_ns = period->start_unix_ns + (period->end_ns - period->start_ns),
		.parts = parts.parts,
		.n_parts = parts.n,
	};
	name_process(keeper, graph, &window.process);
	return store_add(keeper->store, &window);
}

static void publish_stats(struct store_keeper *keeper)
{
	THREAD_HOLD(&keeper->worker.lock);

	keeper->stats.store = keeper->store->stats;
}

/* Only the first error is logged, because the others are most likely equal. */
static void write_period(void *arg, const struct period *period)
{
	struct store_keeper *const keeper = arg;
	const uint64_t failed = keeper->store->stats.failed;
	struct wall_clock now;
	int err, first_err = 0;

	wall_clock_read(&now);
	err = store_begin(keeper->store, &now);
	if (err) {
		keeper->store->stats.failed += period->count;
		first_err = err;
	} else {
		for (struct period_graph *graph = period->graphs; graph; graph = graph->next) {
			err = write_window(keeper, period, graph);
			first_err = first_err ? first_err : err;
		}
		err = store_commit(keeper->store);
		first_err = first_err ? first_err : err;
	}
	publish_stats(keeper);
	if (first_err)
		log_error("cannot write to the store %s: %s: %llu of %llu windows are lost; make "
			  "room there, or lower --store-bytes",
			  keeper->options.dir, strerror(-first_err),
			  (unsigned long long)(keeper->store->stats.failed - failed),
			  (unsigned long long)period->count);
}

/* Says an error of merging or removing once, until there is none. */
static void say_once(struct store_keeper *keeper, int err)
{
	if (err < 0 && !keeper->has_failed)
		log_error("cannot merge or remove what is in the store %s: %s: it stays as it is",
			  keeper->options.dir, strerror(-err));
	keeper->has_failed = err < 0;
}

/*
 * Removes what is to go, whatever becomes of merging. Then merges an hour at least, and more of
 * them until there is a period to be written. Who closes the keeper waits, and the next one merges.
 */
static void tend(void *arg)
{
	struct store_keeper *const keeper = arg;
	struct wall_clock now;
	int err, rc = 0;

	wall_clock_read(&now);
	err = store_expire(keeper->store, &now);
	if (!period_worker_is_closing(&keeper->worker)) {
		do
			rc = store_merge(keeper->store, &now);
		while (rc > 0 && !period_worker_is_awaited(&keeper->worker));
	}
	say_once(keeper, err ? err : rc);
	publish_stats(keeper);
}

static const struct period_work work = {.work = write_period, .rest = tend};

static void free_keeper(struct store_keeper *keeper)
{
	period_worker_fini(&keeper->worker);
	store_close(keeper->store);
	free((void *)(uintptr_t)keeper->options.dir);
	period_facts_free(&keeper->options.facts);
	free(keeper);
}

static int open_store(struct store_keeper *keeper)
{
	const struct store_keeper_options *const options = &keeper->options;
	char why[STORE_WHY_BYTES];
	struct wall_clock now;
	int err;

	wall_clock_read(&now);
	err = store_open(options->dir, &options->limits, &now, &keeper->store, why);
	if (err)
		log_error("%s", why);
	return err;
}

int store_keeper_open(const struct store_keeper_options *options, struct store_keeper **ret)
{
	struct store_keeper *const keeper = calloc(1, sizeof(*keeper));
	int err;

	if (!keeper)
		return -ENOMEM;
	keeper->options = *options;
	keeper->options.dir = strdup(options->dir);
	period_worker_init(&keeper->worker, options->max_bytes);
	err = period_facts_copy(&keeper->options.facts);
	if (!err)
		err = keeper->options.dir ? open_store(keeper) : -ENOMEM;
	if (err) {
		free_keeper(keeper);
		return err;
	}
	publish_stats(keeper);
	err = period_worker_start(&keeper->worker, &work, keeper);
	if (err) {
		log_error("--store %s: cannot start a thread: %s", options->dir, strerror(-err));
		free_keeper(keeper);
		return err;
	}
	*ret = keeper;
	return 0;
}

void store_keeper_take(struct store_keeper *keeper, struct period *period)
{
	const size_t dropped = period_worker_take(&keeper->worker, period);

	if (dropped)
		log_error("%s: %zu windows of whoever has the most are dropped: earlier ones are "
			  "still being written: is the disk too slow, or gone?",
			  keeper->options.dir, dropped);
}

void store_keeper_set_max_bytes(struct store_keeper *keeper, size_t bytes)
{
	period_worker_set_max_bytes(&keeper->worker, bytes);
}

void store_keeper_stats(struct store_keeper *keeper, struct store_keeper_stats *ret)
{
	THREAD_HOLD(&keeper->worker.lock);

	*ret = keeper->stats;
	ret->dropped = keeper->worker.dropped;
	ret->waiting_bytes = keeper->worker.queue.bytes;
}

void store_keeper_close(struct store_keeper *keeper, uint64_t patience_ns)
{
	if (!keeper)
		return;
	if (!period_worker_stop(&keeper->worker, clock_now_ns() + patience_ns)) {
		log_error("%s: the last windows could not be written in time", keeper->options.dir);
		return;
	}
	free_keeper(keeper);
}

static const struct counter counters[] = {
	COUNTER_GAUGE(struct store_keeper_stats, waiting_bytes, "store.waiting_bytes",
		      "store_waiting_bytes", "Memory of windows that wait to be written."),
	COUNTER_SUM(
		struct store_keeper_stats, dropped, "store.windows_dropped",
		"store_windows_dropped_total",
		"Windows of a process that were dropped because others were still being written."),
};

const struct counters store_keeper_counters = COUNTERS(struct store_keeper_stats, counters);
