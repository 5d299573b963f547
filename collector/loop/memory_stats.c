// SPDX-License-Identifier: Apache-2.0
/* Sums the pools of memory, see memory_stats.h. */
#include "loop/memory_stats.h"

#include "base/clock.h"
#include "guard/heap.h"
#include "process/targets.h"

uint64_t memory_stats_shared(const struct memory_stats *stats)
{
	return stats->messages + stats->tables + stats->held + stats->trees + stats->graphs +
	       stats->windows + stats->captures + stats->names + stats->stacks + stats->files +
	       stats->kernel + stats->lines + stats->containers + stats->agents + stats->lists +
	       stats->queries + stats->publish;
}

void memory_stats_sum(struct memory_stats *ret, const struct targets *targets, uint64_t limit)
{
	ret->limit = limit;
	ret->processes = targets->bytes;
	ret->dying = targets->dying.bytes;
	ret->accounted = ret->processes + ret->dying + memory_stats_shared(ret);
	ret->given_back = targets->heap.trims;
	ret->longest_give_back_ns = targets->heap.longest_ns;
	ret->allocated = heap_allocated(clock_now_ns());
	ret->resident = heap_resident();
}

static const struct counter counters[] = {
	COUNTER_GAUGE(struct memory_stats, limit, "memory.limit", "memory_limit_bytes",
		      "The most memory of all that the collector keeps."),
	COUNTER_GAUGE(struct memory_stats, accounted, "memory.accounted", "memory_accounted_bytes",
		      "Memory of all that the collector keeps, as it counts it."),
	COUNTER_GAUGE(struct memory_stats, allocated, "memory.allocated", "memory_allocated_bytes",
		      "Memory that malloc has given to all of the collector."),
	COUNTER_GAUGE(struct memory_stats, resident, "memory.resident", "memory_resident",
		      "Resident memory of the collector, beside what malloc has given."),
	COUNTER_GAUGE(struct memory_stats, processes, "memory.processes", "memory_processes_bytes",
		      "Of this, what is known of processes: code, names, mappings, threads."),
	COUNTER_GAUGE(
		struct memory_stats, dying, "memory.dying", "memory_dying_bytes",
		"Of this, what was known of processes that are forgotten, and is not freed yet."),
	COUNTER_GAUGE(struct memory_stats, messages, "memory.messages", "memory_messages_bytes",
		      "Of this, messages of agents that are not whole."),
	COUNTER_GAUGE(struct memory_stats, tables, "memory.tables", "memory_tables_bytes",
		      "Of this, symbols and unwind rules of files."),
	COUNTER_GAUGE(struct memory_stats, held, "memory.held", "memory_held_bytes",
		      "Of this, samples that wait to be named."),
	COUNTER_GAUGE(struct memory_stats, trees, "memory.trees", "memory_trees_bytes",
		      "Of this, call trees of recordings."),
	COUNTER_GAUGE(struct memory_stats, windows, "memory.windows", "memory_windows_bytes",
		      "Of this, windows of tops."),
	COUNTER_GAUGE(struct memory_stats, captures, "memory.captures", "memory_captures_bytes",
		      "Of this, captures, with their files."),
	COUNTER_GAUGE(struct memory_stats, graphs, "memory.graphs", "memory_graphs_bytes",
		      "Of this, graphs of the period that lasts, those that wait to be written, "
		      "and the list of files."),
	COUNTER_GAUGE(struct memory_stats, names, "memory.names", "memory_names_bytes",
		      "Of this, names of frames."),
	COUNTER_GAUGE(struct memory_stats, stacks, "memory.stacks", "memory_stacks_bytes",
		      "Of this, parts of stacks that were read ahead."),
	COUNTER_GAUGE(struct memory_stats, files, "memory.files", "memory_files_bytes",
		      "Of this, which file each mapping is of."),
	COUNTER_GAUGE(struct memory_stats, kernel, "memory.kernel", "memory_kernel_bytes",
		      "Of this, symbols of the kernel, also those that are being read."),
	COUNTER_GAUGE(struct memory_stats, lines, "memory.lines", "memory_lines_bytes",
		      "Of this, answers from DWARF."),
	COUNTER_GAUGE(struct memory_stats, containers, "memory.containers",
		      "memory_containers_bytes", "Of this, names and labels of containers."),
	COUNTER_GAUGE(struct memory_stats, agents, "memory.agents", "memory_agents_bytes",
		      "Of this, connections, and agents that listen."),
	COUNTER_GAUGE(struct memory_stats, lists, "memory.lists", "memory_lists_bytes",
		      "Of this, lists of processes, sessions, and perf maps that are kept."),
	COUNTER_GAUGE(struct memory_stats, publish, "memory.publish", "memory_publish_bytes",
		      "Of this, events on their way to subscribers."),
	COUNTER_GAUGE(struct memory_stats, queries, "memory.queries", "memory_queries_bytes",
		      "Of this, answers over HTTP and what may be taken to make them."),
	COUNTER_SUM(struct memory_stats, given_back, "memory.given_back", "memory_given_back_total",
		    "Times that free memory was given back to the kernel."),
	COUNTER_GAUGE(struct memory_stats, longest_give_back_ns, "memory.longest_give_back_us",
		      "memory_give_back_longest_seconds", "The longest time that took.",
		      .unit = COUNTER_NS_IN_US),
};

const struct counters memory_counters = COUNTERS(struct memory_stats, counters);
