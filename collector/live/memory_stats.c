// SPDX-License-Identifier: Apache-2.0
/* Counts the memory of all stages, see memory_stats.h. */
#include "live/memory_stats.h"

static uint64_t shared_bytes(const struct memory_stats *stats)
{
	return stats->messages + stats->tables + stats->held + stats->trees + stats->graphs +
	       stats->windows + stats->captures + stats->names + stats->stacks + stats->files +
	       stats->kernel + stats->lines + stats->containers + stats->agents + stats->lists +
	       stats->queries + stats->publish;
}

static uint64_t table_bytes(const struct table_cache *tables, enum table_of of)
{
	struct table_stats stats;

	table_cache_table_stats(tables, of, &stats);
	return stats.bytes;
}

static uint64_t file_bytes(const struct table_cache *tables)
{
	struct table_cache_stats stats;

	table_cache_stats(tables, &stats);
	return stats.bytes;
}

static uint64_t kernel_bytes(const struct symbolizer *symbolizer)
{
	struct kernel_code_stats stats;

	symbolizer_kernel_stats(symbolizer, &stats);
	return stats.bytes;
}

static uint64_t line_bytes(const struct symbolizer *symbolizer)
{
	struct native_lines_stats stats;

	symbolizer_lines_stats(symbolizer, &stats);
	return stats.bytes;
}

static void count_agents(struct memory_stats *ret, const struct memory_sources *sources)
{
	struct intake_stats stats;

	intake_stats(sources->intake, &stats);
	ret->messages = stats.buffer_bytes;
	ret->agents = stats.connection_bytes + outreach_bytes(sources->outreach);
}

static uint64_t clock_bytes(struct thread_clock *clock)
{
	struct thread_clock_stats stats;

	thread_clock_stats(clock, &stats);
	return stats.bytes;
}

static void count_recording(struct memory_stats *ret, const struct recording *recording)
{
	ret->held += recording->hold.bytes + sampler_bytes(recording->sampler);
	for (size_t i = 0; i < recording->n_trees; i++) {
		const struct tree_sink *const tree = recording->trees[i];

		ret->trees += profile_bytes(&tree->profile) + timeline_bytes(&tree->timeline) +
			      map64_bytes(&tree->seen.seen);
	}
	if (recording->clock)
		ret->held +=
			clock_bytes(recording->clock) + running_time_bytes(&recording->running);
	if (recording->locks)
		ret->held += lock_waits_bytes(recording->locks);
	if (recording->live)
		ret->held += live_samples_bytes(recording->live);
	if (recording->window)
		ret->windows += window_bytes(&recording->window->window);
	if (recording->watch)
		ret->captures += recording->watch->ops->bytes(recording->watch);
	if (recording->unwinder)
		ret->stacks += unwinder_bytes(recording->unwinder);
}

/* Of graphs that wait, and of profiles that wait in memory. */
static uint64_t push_bytes(const struct push_stats *push)
{
	uint64_t bytes = push->waiting_bytes;

	for (size_t i = 0; i < push->n_targets; i++)
		bytes += push->targets[i].memory_bytes;
	return bytes;
}

uint64_t memory_stats_count(struct memory_stats *ret, const struct memory_sources *sources)
{
	const struct daemon_stats *const daemon = sources->daemon;

	*ret = (struct memory_stats){
		.tables = table_bytes(sources->tables, TABLE_UNWIND) +
			  table_bytes(sources->tables, TABLE_SYMBOLS) +
			  table_bytes(sources->tables, TABLE_PROBES),
		.graphs = daemon ? daemon->graph_bytes + daemon->writer.waiting_bytes +
					   daemon->writer.list_bytes + daemon->window_bytes +
					   daemon->keeper.waiting_bytes + daemon->push_bytes +
					   push_bytes(&daemon->push)
				 : 0,
		.queries = daemon ? daemon->http.web.answer_bytes + daemon->http.web.work_bytes : 0,
		.publish = daemon ? daemon->publish.waiting_bytes + daemon->publish.kept_bytes : 0,
		.names = symbolizer_bytes(sources->symbolizer),
		.stacks = unwinder_bytes(sources->unwinder),
		.files = file_bytes(sources->tables),
		.kernel = kernel_bytes(sources->symbolizer),
		.lines = line_bytes(sources->symbolizer),
		.containers = containers_bytes(&sources->targets->containers),
		.lists = targets_list_bytes(sources->targets),
	};
	count_agents(ret, sources);
	for (const struct recording *r = sources->recordings; r; r = r->next)
		count_recording(ret, r);
	return shared_bytes(ret);
}

void memory_stats_sum(struct memory_stats *ret, const struct targets *targets, uint64_t limit)
{
	ret->limit = limit;
	ret->processes = targets->bytes;
	ret->dying = targets->dying.bytes;
	ret->accounted = ret->processes + ret->dying + shared_bytes(ret);
	ret->given_back = targets->heap.trims;
	ret->longest_give_back_ns = targets->heap.longest_ns;
}
