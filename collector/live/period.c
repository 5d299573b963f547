// SPDX-License-Identifier: Apache-2.0
/* Graphs by process, see period.h. The bytes of graphs are summed up with each sample. */
#include "live/period.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int period_new(uint64_t start_ns, uint64_t length_ns, struct period **ret)
{
	struct period *period = calloc(1, sizeof(*period));
	const uint64_t now = clock_now_ns(), unix_now = clock_unix_now_ns();

	if (!period)
		return -ENOMEM;
	period->start_ns = start_ns;
	period->end_ns = start_ns + length_ns;
	period->start_unix_ns = unix_now - (now > start_ns ? now - start_ns : 0);
	*ret = period;
	return 0;
}

static void graph_free(struct period_graph *graph)
{
	timeline_fini(&graph->timeline);
	profile_fini(&graph->profile);
	free(graph);
}

void period_free(struct period *period)
{
	struct period_graph *next;

	if (!period)
		return;
	for (struct period_graph *graph = period->graphs; graph; graph = next) {
		next = graph->next;
		graph_free(graph);
	}
	map64_fini(&period->by_pid);
	free(period);
}

size_t period_graph_bytes(const struct period_graph *graph)
{
	const struct profile *profile = &graph->profile;
	const struct timeline *timeline = &graph->timeline;

	return sizeof(*graph) + profile->size * sizeof(*profile->nodes) +
	       profile->index_size * sizeof(*profile->index) + profile->names.arena.total_bytes +
	       profile->names.size * 2 * sizeof(void *) +
	       timeline->entries_size * sizeof(*timeline->entries) +
	       timeline->threads_size * sizeof(*timeline->threads) +
	       timeline->texts.arena.total_bytes + timeline->texts.size * 2 * sizeof(void *);
}

static struct period_graph *graph_new(const struct process *process)
{
	struct period_graph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return NULL;
	if (profile_init(&graph->profile, PERIOD_GRAPH_NODES) < 0) {
		free(graph);
		return NULL;
	}
	timeline_init(&graph->timeline, PERIOD_GRAPH_ENTRIES);
	graph->pid = process->pid;
	graph->start_ticks = process->start_ticks;
	snprintf(graph->container, sizeof(graph->container), "%s", process->container_id);
	snprintf(graph->comm, sizeof(graph->comm), "%s", process->comm);
	return graph;
}

struct period_graph *period_graph_of(struct period *period, const struct process *process)
{
	struct period_graph *graph = map64_find(&period->by_pid, (uint64_t)process->pid);

	if (period->bytes >= PERIOD_MAX_BYTES) {
		period->left_out++;
		return NULL;
	}
	if (graph && graph->start_ticks == process->start_ticks)
		return graph;
	graph = graph_new(process);
	if (graph && map64_put(&period->by_pid, (uint64_t)process->pid, graph) < 0) {
		graph_free(graph);
		graph = NULL;
	}
	if (!graph) {
		period->left_out++;
		return NULL;
	}
	graph->next = period->graphs;
	period->graphs = graph;
	period->count++;
	period->bytes += period_graph_bytes(graph);
	return graph;
}

void period_note_sample(struct period *period, const struct period_graph *graph,
			size_t before_bytes, uint64_t at_ns)
{
	uint64_t end_ns;

	period->samples++;
	period->bytes += period_graph_bytes(graph) - before_bytes;
	if (period->bytes < PERIOD_MAX_BYTES || period->is_cut_short)
		return;
	end_ns = period->start_ns + PERIOD_LEAST_NS;
	if (end_ns < at_ns + 1)
		end_ns = at_ns + 1;
	if (end_ns < period->end_ns) {
		period->end_ns = end_ns;
		period->is_cut_short = true;
	}
}

static bool is_known(const struct targets *targets, const struct period_graph *graph)
{
	const struct process *process = targets_find(targets, graph->pid);

	return process && process->start_ticks == graph->start_ticks;
}

int period_steal_ended(struct period *period, const struct targets *targets, struct period **ret)
{
	struct period *ended = NULL;

	*ret = NULL;
	for (struct period_graph **link = &period->graphs, *graph; (graph = *link);) {
		const size_t bytes = period_graph_bytes(graph);

		if (is_known(targets, graph)) {
			link = &graph->next;
			continue;
		}
		if (!ended) {
			ended = calloc(1, sizeof(*ended));
			if (!ended)
				return -ENOMEM;
			ended->start_ns = period->start_ns;
			ended->start_unix_ns = period->start_unix_ns;
			ended->end_ns = clock_now_ns();
		}
		if (map64_find(&period->by_pid, (uint64_t)graph->pid) == graph)
			map64_remove(&period->by_pid, (uint64_t)graph->pid);
		*link = graph->next;
		graph->next = ended->graphs;
		ended->graphs = graph;
		ended->count++;
		period->count--;
		ended->bytes += bytes;
		period->bytes -= bytes;
	}
	*ret = ended;
	return 0;
}

const char *period_graph_title(const struct period_graph *graph)
{
	const struct timeline *timeline = &graph->timeline;

	if (timeline->n_processes > 0 && timeline->processes[0].title[0])
		return timeline->processes[0].title;
	return graph->comm;
}
