// SPDX-License-Identifier: Apache-2.0
/* Functions that all sinks share, see sink.h. */
#include "sinks/sink.h"

void sink_free_all(struct sink *sink)
{
	struct sink *next;

	for (; sink; sink = next) {
		next = sink->next;
		sink->ops->free(sink);
	}
}

bool sink_wants(const struct sink *sink, const struct named_sample *sample)
{
	if (sink->kind == &sample_kind_offcpu)
		return sample->kind == &sample_kind_wall && sample->state != THREAD_RUNNING;
	return sink->kind == sample->kind;
}
