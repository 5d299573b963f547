// SPDX-License-Identifier: Apache-2.0
/* Makes one search after the other, see dial_wait.h. */
#include "serve/dial_wait.h"

#include <stdlib.h>

void dial_wait_begin(struct dial_wait *wait, struct engine *engine,
		     const struct recording_options *options)
{
	*wait = (struct dial_wait){.engine = engine, .options = options};
}

void dial_wait_end(struct dial_wait *wait)
{
	if (wait->is_searching)
		young_processes_end(&wait->search);
	map64_fini_all(&wait->dials, free);
	*wait = (struct dial_wait){0};
}

static void finish(struct dial_wait *wait, uint64_t now_ns)
{
	wait->found = wait->search.count;
	wait->is_searching = false;
	wait->has_searched = true;
	wait->next_ns = now_ns + DIAL_WAIT_AGAIN_NS;
	young_processes_end(&wait->search);
}

uint64_t dial_wait_pause_ns(const struct dial_wait *wait, uint64_t most_ns)
{
	if (wait->is_searching)
		return 0;
	return most_ns < DIAL_WAIT_AGAIN_NS ? most_ns : DIAL_WAIT_AGAIN_NS;
}

bool dial_wait_step(struct dial_wait *wait, uint64_t now_ns)
{
	if (!wait->is_searching && now_ns >= wait->next_ns)
		wait->is_searching =
			young_processes_begin_all(&wait->search, wait->engine, wait->options) == 0;
	if (wait->is_searching)
		wait->search.dials = &wait->dials;
	if (wait->is_searching && young_processes_step(&wait->search, now_ns + DIAL_WAIT_TURN_NS))
		finish(wait, now_ns);
	return wait->has_searched && wait->found == 0;
}
