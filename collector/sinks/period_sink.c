// SPDX-License-Identifier: Apache-2.0
/* A chain of periods as a sink, see period_sink.h. */
#include "sinks/period_sink.h"

#include <errno.h>
#include <stdlib.h>

static struct period_sink *self(struct sink *sink)
{
	return (struct period_sink *)sink;
}

/* A sink of a kind behind the first. */
struct other_sink {
	struct sink sink;
	struct period_sink *periods;
};

/* Samples at or after end_ns wait, of whatever kind. */
static void set_end(struct period_sink *periods, uint64_t end_ns)
{
	periods->sink.end_ns = end_ns;
	for (size_t i = 0; i < SAMPLE_KINDS - 1 && periods->others[i]; i++)
		periods->others[i]->end_ns = end_ns;
}

static void set_period(struct period_sink *periods, struct period *period)
{
	if (period && periods->max_bytes)
		period->max_bytes = periods->max_bytes;
	periods->period = period;
	periods->is_over = false;
	set_end(periods, period ? period->end_ns : SINK_ENDLESS_NS);
}

static int begin(struct sink *sink, uint64_t start_ns)
{
	struct period *period;
	const int err = period_new(self(sink)->kinds, start_ns, self(sink)->length_ns, &period);

	if (!err)
		set_period(self(sink), period);
	return err;
}

/*
 * Adds the sample to the graph of its process. A sample without a graph is counted by the period.
 */
static int take_of(struct period_sink *periods, const struct sample_kind *kind,
		   const struct named_sample *sample)
{
	struct period *const period = periods->period;
	struct period_graph *graph = NULL;
	struct period_part *part;
	size_t bytes;
	int err;

	if (period && sample->process)
		graph = period_graph_of(period, sample->process);
	else if (period)
		period->processless++;
	if (!graph)
		return 0;
	bytes = period_graph_bytes(graph);
	part = period_graph_part(graph, kind);
	err = named_sample_add(sample, period->start_ns, &part->profile, &part->timeline);
	if (err)
		return err;
	period_note_sample(period, graph, bytes, sample->time_ns);
	set_end(periods, period->end_ns);
	return 0;
}

static int take(struct sink *sink, const struct named_sample *sample)
{
	return take_of(self(sink), sink->kind, sample);
}

static int take_other(struct sink *sink, const struct named_sample *sample)
{
	return take_of(((struct other_sink *)sink)->periods, sink->kind, sample);
}

/* The first sink does what the others share. */
static int begin_other(struct sink *sink, uint64_t start_ns)
{
	(void)sink;
	(void)start_ns;
	return 0;
}

static void advance_other(struct sink *sink, const struct sink_progress *progress)
{
	(void)sink;
	(void)progress;
}

static void free_other(struct sink *sink)
{
	free(sink);
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

/* Hangs a sink of the kind behind the others. */
static int add_other(struct period_sink *periods, const struct sample_kind *kind)
{
	static const struct sink_ops ops = {.begin = begin_other,
					    .take = take_other,
					    .advance = advance_other,
					    .free = free_other};
	struct sink **link = &periods->sink.next;
	struct other_sink *const other = calloc(1, sizeof(*other));
	size_t n = 0;

	if (!other)
		return -ENOMEM;
	for (; *link; link = &(*link)->next)
		n++;
	other->sink = (struct sink){.ops = &ops, .kind = kind, .end_ns = SINK_ENDLESS_NS};
	other->periods = periods;
	periods->others[n] = *link = &other->sink;
	return 0;
}

int period_sink_new(unsigned kinds, uint64_t length_ns, struct period_sink **ret)
{
	static const struct sink_ops ops = {
		.begin = begin, .take = take, .advance = advance, .free = free_periods};
	struct period_sink *periods = calloc(1, sizeof(*periods));
	int err = 0;

	if (!periods)
		return -ENOMEM;
	periods->sink = (struct sink){.ops = &ops, .end_ns = SINK_ENDLESS_NS};
	periods->sink.kind = sample_kinds[__builtin_ctz(kinds)];
	periods->kinds = kinds;
	periods->length_ns = length_ns;
	for (unsigned i = 0; !err && i < SAMPLE_KINDS; i++) {
		if (kinds >> i & 1 && sample_kinds[i] != periods->sink.kind)
			err = add_other(periods, sample_kinds[i]);
	}
	if (err) {
		sink_free_all(&periods->sink);
		return err;
	}
	*ret = periods;
	return 0;
}

int period_sink_turn(struct period_sink *periods, struct period **ret)
{
	struct period *next;
	int err = period_new(periods->kinds, periods->period->end_ns, periods->length_ns, &next);

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
	set_end(periods, end_ns);
}
