// SPDX-License-Identifier: Apache-2.0
/* Graphs by process, see period.h. The bytes of graphs are summed up with each sample. */
#include "sinks/period.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABELS_CHUNK_BYTES 1024u

int period_new(unsigned kinds, uint64_t start_ns, uint64_t length_ns, struct period **ret)
{
	struct period *period = calloc(1, sizeof(*period));
	const uint64_t now = clock_now_ns(), unix_now = clock_unix_now_ns();

	if (!period)
		return -ENOMEM;
	period->kinds = kinds;
	period->max_bytes = PERIOD_MAX_BYTES;
	period->start_ns = start_ns;
	period->end_ns = start_ns + length_ns;
	period->start_unix_ns = unix_now - (now > start_ns ? now - start_ns : 0);
	*ret = period;
	return 0;
}

static void graph_free(struct period_graph *graph)
{
	for (size_t i = 0; i < graph->n_parts; i++) {
		timeline_fini(&graph->parts[i].timeline);
		profile_fini(&graph->parts[i].profile);
	}
	label_set_fini(&graph->labels);
	free(graph);
}

static void shares_free(struct map64 *shares)
{
	map64_fini_all(shares, free);
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
	shares_free(&period->shares);
	free(period);
}

size_t period_graph_bytes(const struct period_graph *graph)
{
	size_t bytes = sizeof(*graph) + graph->labels.texts.total_bytes;

	for (size_t i = 0; i < graph->n_parts; i++)
		bytes += profile_bytes(&graph->parts[i].profile) +
			 timeline_bytes(&graph->parts[i].timeline);
	return bytes;
}

/* A process in no container pays as its user. */
static void set_payer(struct period_graph *graph, const struct process *process)
{
	const int len = (int)container_owner_len(process->container_id);
	struct owner owner;

	if (len > 0) {
		graph->group = owner_group(owner_of_container(process->container_id, (size_t)len));
		snprintf(graph->payer, sizeof(graph->payer), "%.*s", len, process->container_id);
		return;
	}
	owner = process->owner;
	graph->group = owner_group(owner);
	if (owner.user == OWNER_NOBODY)
		strcpy(graph->payer, "nobody");
	else
		snprintf(graph->payer, sizeof(graph->payer), "user-%llu",
			 (unsigned long long)owner.user);
}

static int add_part(struct period_graph *graph, const struct sample_kind *kind)
{
	struct period_part *const part = &graph->parts[graph->n_parts];
	const int err = profile_init(&part->profile, PERIOD_GRAPH_NODES);

	if (err)
		return err;
	timeline_init(&part->timeline, PERIOD_GRAPH_ENTRIES);
	part->kind = kind;
	graph->n_parts++;
	return 0;
}

struct period_part *period_graph_part(struct period_graph *graph, const struct sample_kind *kind)
{
	for (size_t i = 0; i < graph->n_parts; i++) {
		if (graph->parts[i].kind == kind)
			return &graph->parts[i];
	}
	return NULL;
}

static struct period_graph *graph_new(unsigned kinds, const struct process *process)
{
	struct period_graph *graph = calloc(1, sizeof(*graph));
	int err = 0;

	if (!graph)
		return NULL;
	for (unsigned i = 0; !err && i < SAMPLE_KINDS; i++)
		err = kinds >> i & 1 ? add_part(graph, sample_kinds[i]) : 0;
	if (err) {
		graph_free(graph);
		return NULL;
	}
	graph->pid = process->pid;
	graph->start_ticks = process->start_ticks;
	snprintf(graph->container, sizeof(graph->container), "%s", process->container_id);
	snprintf(graph->comm, sizeof(graph->comm), "%s", process->comm);
	memcpy(graph->pod_uid, process->pod_uid, sizeof(graph->pod_uid));
	graph->labels.texts.chunk_bytes = LABELS_CHUNK_BYTES;
	label_set_add_all(&graph->labels, &process->workload.labels);
	set_payer(graph, process);
	return graph;
}

static struct period_share *share_of(const struct period *period, const struct period_graph *graph)
{
	return map64_find(&period->shares, graph->group);
}

/* As much as is free: what a share has grown to leaves as much for others. */
static bool is_used_up(const struct period *period, const struct period_share *share)
{
	return period->bytes >= period->max_bytes ||
	       share->bytes >= period->max_bytes - period->bytes;
}

static struct period_share *make_share(struct period *period, const struct period_graph *graph)
{
	struct period_share *share = share_of(period, graph);

	if (share)
		return share;
	share = calloc(1, sizeof(*share));
	if (share && map64_put(&period->shares, graph->group, share) < 0) {
		free(share);
		share = NULL;
	}
	return share;
}

static int add_graph(struct period *period, struct period_graph *graph)
{
	struct period_share *share = make_share(period, graph);
	const size_t bytes = period_graph_bytes(graph);
	int err;

	if (!share || is_used_up(period, share))
		return -ENOMEM;
	err = map64_put(&period->by_pid, (uint64_t)graph->pid, graph);
	if (err)
		return err;
	graph->next = period->graphs;
	period->graphs = graph;
	period->count++;
	period->bytes += bytes;
	share->bytes += bytes;
	return 0;
}

struct period_graph *period_graph_of(struct period *period, const struct process *process)
{
	struct period_graph *graph = map64_find(&period->by_pid, (uint64_t)process->pid);

	if (graph && graph->start_ticks == process->start_ticks) {
		if (!is_used_up(period, share_of(period, graph)))
			return graph;
		graph = NULL;
	} else {
		graph = graph_new(period->kinds, process);
		if (graph && add_graph(period, graph) < 0) {
			graph_free(graph);
			graph = NULL;
		}
	}
	period->left_out += !graph;
	if (graph) /* the agent may have said since the last sample what runs */
		graph->is_passing = process_is_passing(process);
	return graph;
}

void period_note_sample(struct period *period, struct period_graph *graph, size_t before_bytes,
			uint64_t at_ns)
{
	const size_t grown = period_graph_bytes(graph) - before_bytes;
	struct period_share *const share = share_of(period, graph);
	uint64_t end_ns;

	period->samples++;
	graph->samples++;
	period->bytes += grown;
	share->bytes += grown;
	if (!is_used_up(period, share) || period->is_cut_short)
		return;
	end_ns = period->start_ns + PERIOD_LEAST_NS;
	if (end_ns < at_ns + 1)
		end_ns = at_ns + 1;
	if (end_ns < period->end_ns) {
		period->end_ns = end_ns;
		period->is_cut_short = true;
	}
}

void period_drop_graph(struct period *period, struct period_graph **link)
{
	struct period_graph *const graph = *link;

	*link = graph->next;
	period->count--;
	period->bytes -= period_graph_bytes(graph);
	graph_free(graph);
}

void period_drop_passing(struct period *period, struct period_passing *sum)
{
	for (struct period_graph **link = &period->graphs; *link;) {
		if (!(*link)->is_passing) {
			link = &(*link)->next;
			continue;
		}
		sum->graphs++;
		sum->samples += (*link)->samples;
		period_drop_graph(period, link);
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
			ended->kinds = period->kinds;
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
		share_of(period, graph)->bytes -= bytes;
	}
	*ret = ended;
	return 0;
}

const struct timeline_process *period_graph_process(const struct period_graph *graph)
{
	for (size_t i = 0; i < graph->n_parts; i++) {
		const struct timeline *const timeline = &graph->parts[i].timeline;

		if (timeline->n_processes > 0 && timeline->processes[0].title[0])
			return &timeline->processes[0];
	}
	return NULL;
}

const char *period_graph_title(const struct period_graph *graph)
{
	const struct timeline_process *const process = period_graph_process(graph);

	return process ? process->title : graph->comm;
}
