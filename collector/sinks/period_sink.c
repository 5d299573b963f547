// SPDX-License-Identifier: Apache-2.0
/* A chain of periods as a sink, see period_sink.h. */
#include "sinks/period_sink.h"

#include <errno.h>
#include <stdlib.h>

static struct period_sink *self(struct sink *sink)
{
	return (struct period_sink *)sink;
}

static void set_period(struct period_sink *periods, struct period *period)
{
	if (period && periods->max_bytes)
		period->max_bytes = periods->max_bytes;
	periods->period = period;
	periods->is_over = false;
	periods->sink.end_ns = period ? period->end_ns : SINK_ENDLESS_NS;
}

static int begin(struct sink *sink, uint64_t start_ns)
{
	struct period *period;
	const int err = period_new(start_ns, self(sink)->length_ns, &period);

	if (!err)
		set_period(self(sink), period);
	return err;
}

/*
 * Adds the sample to the graph of its process. A sample without a graph is counted by the period.
 */
static int take(struct sink *sink, const struct named_sample *sample)
{
	struct period *const period = self(sink)->period;
	struct period_graph *graph = NULL;
	size_t bytes;
	int err;

	if (period && sample->process)
		graph = period_graph_of(period, sample->process);
	else if (period)
		period->processless++;
	if (!graph)
		return 0;
	bytes = period_graph_bytes(graph);
	err = named_sample_add(sample, period->start_ns, &graph->profile, &graph->timeline);
	if (err)
		return err;
	period_note_sample(period, graph, bytes, sample->time_ns);
	sink->end_ns = period->end_ns;
	return 0;
}

static void advance(struct sink *sink, const struct sink_progress *progress)
{
	struct period_sink *const periods = self(sink);

	periods->is_over = periods->period && progress->until_ns >= periods->period->end_ns;
}

static void free_periods(struct sink *sink)
{
	period_free(self(sink)->period);
	free(self(sink));
}

int period_sink_new(uint64_t length_ns, struct period_sink **ret)
{
	static const struct sink_ops ops = {
		.begin = begin, .take = take, .advance = advance, .free = free_periods};
	struct period_sink *periods = calloc(1, sizeof(*periods));

	if (!periods)
		return -ENOMEM;
	periods->sink =
		(struct sink){.ops = &ops, .kind = &sample_kind_cpu, .end_ns = SINK_ENDLESS_NS};
	periods->length_ns = length_ns;
	*ret = periods;
	return 0;
}

int period_sink_turn(struct period_sink *periods, struct period **ret)
{
	struct period *next;
	int err = period_new(periods->period->end_ns, periods->length_ns, &next);

	if (err)
		return err;
	*ret = periods->period;
	set_period(periods, next);
	return 0;
}

struct period *period_sink_give_up(struct period_sink *periods)
{
	struct period *const period = periods->period;

	set_period(periods, NULL);
	return period;
}

void period_sink_set_max_bytes(struct period_sink *periods, size_t bytes)
{
	periods->max_bytes = bytes;
	if (periods->period)
		periods->period->max_bytes = bytes;
}

void period_sink_end(struct period_sink *periods, uint64_t end_ns)
{
	if (!periods->period || periods->period->end_ns <= end_ns)
		return;
	periods->period->end_ns = end_ns;
	periods->sink.end_ns = end_ns;
}
