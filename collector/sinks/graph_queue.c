// SPDX-License-Identifier: Apache-2.0
/* Periods that wait, see graph_queue.h. */
#include "sinks/graph_queue.h"

#include "guard/fair.h"

#include <errno.h>
#include <stdlib.h>

struct waiting_period {
	struct period *period;
	struct waiting_period *next;
};

void graph_queue_init(struct graph_queue *queue, size_t max_bytes)
{
	*queue = (struct graph_queue){.max_bytes = max_bytes};
	queue->end = &queue->first;
}

/* Adds up what each group has waiting. -ENOMEM */
static int sum_up(const struct graph_queue *queue, struct map64 *ret)
{
	for (const struct waiting_period *waiting = queue->first; waiting;
	     waiting = waiting->next) {
		const struct period_graph *graph = waiting->period->graphs;

		for (; graph; graph = graph->next) {
			const uintptr_t bytes = (uintptr_t)map64_find(ret, graph->group) +
						period_graph_bytes(graph);

			if (map64_put(ret, graph->group, (void *)bytes) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

/* How much a group may have; 0 without memory to find it out. */
static uint64_t find_level(const struct graph_queue *queue, const struct map64 *groups)
{
	uint64_t *wants = calloc(groups->count + 1, sizeof(*wants)), group, level;
	size_t pos = 0, n = 0;
	void *bytes;

	if (!wants)
		return 0;
	while (map64_next(groups, &pos, &group, &bytes))
		wants[n++] = (uintptr_t)bytes;
	level = fair_level(wants, n,
			   queue->max_bytes > queue->writing_bytes
				   ? queue->max_bytes - queue->writing_bytes
				   : 0);
	free(wants);
	return level;
}

/* Drops graphs of the period whose groups have more than the level. */
static size_t drop_some(struct graph_queue *queue, struct period *period, struct map64 *groups,
			uint64_t level)
{
	size_t dropped = 0;

	for (struct period_graph **link = &period->graphs, *graph; (graph = *link);) {
		const uintptr_t has = (uintptr_t)map64_find(groups, graph->group);
		const size_t bytes = period_graph_bytes(graph);

		if (has <= level) {
			link = &graph->next;
			continue;
		}
		if (has > bytes)
			map64_put(groups, graph->group,
				  (void *)(has - bytes)); /* is there already */
		else
			map64_remove(groups, graph->group);
		period_drop_graph(period, link);
		queue->bytes -= bytes;
		dropped++;
	}
	return dropped;
}

/* Returns the graphs dropped. */
static size_t make_room(struct graph_queue *queue)
{
	struct map64 groups = {0};
	size_t dropped = 0;
	uint64_t level = 0;

	if (queue->bytes <= queue->max_bytes)
		return 0;
	if (sum_up(queue, &groups) == 0)
		level = find_level(queue, &groups);
	for (struct waiting_period *waiting = queue->first; waiting; waiting = waiting->next)
		dropped += drop_some(queue, waiting->period, &groups, level);
	map64_fini(&groups);
	return dropped;
}

int graph_queue_add(struct graph_queue *queue, struct period *period, size_t *ret_dropped)
{
	struct waiting_period *waiting = calloc(1, sizeof(*waiting));

	if (!waiting) {
		*ret_dropped = period->count;
		period_free(period);
		return -ENOMEM;
	}
	waiting->period = period;
	*queue->end = waiting;
	queue->end = &waiting->next;
	queue->bytes += period->bytes;
	*ret_dropped = make_room(queue);
	return 0;
}

struct period *graph_queue_take(struct graph_queue *queue)
{
	struct waiting_period *waiting = queue->first;
	struct period *period;

	if (!waiting)
		return NULL;
	queue->first = waiting->next;
	if (!queue->first)
		queue->end = &queue->first;
	period = waiting->period;
	queue->writing_bytes = period->bytes;
	free(waiting);
	return period;
}

void graph_queue_done(struct graph_queue *queue)
{
	queue->bytes -= queue->writing_bytes;
	queue->writing_bytes = 0;
}

void graph_queue_fini(struct graph_queue *queue)
{
	struct period *period;

	while ((period = graph_queue_take(queue))) {
		period_free(period);
		graph_queue_done(queue);
	}
}
