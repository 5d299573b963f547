// SPDX-License-Identifier: Apache-2.0
/* A sink that counts samples by process, see count_sink.h. */
#include "sinks/count_sink.h"

#include <errno.h>
#include <stdlib.h>

static int begin(struct sink *sink, uint64_t start_ns)
{
	(void)sink, (void)start_ns;
	return 0;
}

static int take(struct sink *sink, const struct named_sample *sample)
{
	const struct symbolizer_verdict *const verdict = sample->verdict;
	const uint64_t weight = sample->values[0];
	struct process_samples *samples;

	(void)sink;
	if (!sample->process)
		return 0;
	samples = &sample->process->samples;
	samples->samples += weight;
	samples->unnamed += weight * (!verdict->is_java_named || verdict->is_interpreted_unnamed);
	samples->unrooted += weight * !verdict->is_rooted;
	return 0;
}

static void advance(struct sink *sink, const struct sink_progress *progress)
{
	(void)sink, (void)progress;
}

static void free_sink(struct sink *sink)
{
	free(sink);
}

int count_sink_new(struct sink **ret)
{
	static const struct sink_ops ops = {
		.begin = begin, .take = take, .advance = advance, .free = free_sink};
	struct sink *const sink = calloc(1, sizeof(*sink));

	if (!sink)
		return -ENOMEM;
	*sink = (struct sink){.ops = &ops, .kind = &sample_kind_cpu, .end_ns = SINK_ENDLESS_NS};
	*ret = sink;
	return 0;
}
