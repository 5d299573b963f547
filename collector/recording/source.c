// SPDX-License-Identifier: Apache-2.0
/* The list of a recording's sources, see source.h. */
#include "recording/source.h"

struct sample_source *sample_source_find(struct sample_source *sources, unsigned number)
{
	while (sources && !((sources->samples | sources->events) >> number & 1))
		sources = sources->next;
	return sources;
}

void sample_source_append(struct sample_source **sources, struct sample_source *source)
{
	while (*sources)
		sources = &(*sources)->next;
	*sources = source;
}

bool sample_source_is_bare(struct sample_source *sources, unsigned number)
{
	const struct sample_source *const source = sample_source_find(sources, number);

	return source && source->bare >> number & 1;
}

void sample_source_free_all(struct sample_source *sources)
{
	if (!sources)
		return;
	sample_source_free_all(sources->next);
	sources->ops->free(sources);
}
