// SPDX-License-Identifier: Apache-2.0
/* Functions that all sinks share, see sink.h. */
#include "sinks/sink.h"

#include <string.h>

void sink_free_all(struct sink *sink)
{
	struct sink *next;

	for (; sink; sink = next) {
		next = sink->next;
		sink->ops->free(sink);
	}
}

bool sample_kind_is_count(const struct sample_kind *kind)
{
	return kind->n_values == 1 && strcmp(kind->values[0].unit, "count") == 0;
}
