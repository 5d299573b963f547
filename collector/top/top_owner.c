// SPDX-License-Identifier: Apache-2.0
/* Tells processes of one name apart, see top_owner.h. */
#include "top/top_owner.h"

#include "container/place_name.h"

#include <stdio.h>
#include <string.h>

#define SHORT_ID 6

/* Whether another process is called the same. */
static bool has_namesake(const struct timeline *timeline, const struct timeline_process *process)
{
	char name[PLACE_NAME_BYTES], other[PLACE_NAME_BYTES];

	timeline_process_write_called(process, name, sizeof(name));
	for (size_t i = 0; i < timeline->n_processes; i++) {
		if (&timeline->processes[i] == process ||
		    strcmp(timeline->processes[i].title, process->title) != 0)
			continue;
		timeline_process_write_called(&timeline->processes[i], other, sizeof(other));
		if (strcmp(name, other) == 0)
			return true;
	}
	return false;
}

void top_owner_write_id(const struct timeline *timeline, const struct timeline_process *process,
			char ret[TOP_OWNER_ID_BYTES])
{
	char name[PLACE_NAME_BYTES];

	timeline_process_write_called(process, name, sizeof(name));
	ret[0] = '\0';
	if (has_namesake(timeline, process))
		snprintf(ret, TOP_OWNER_ID_BYTES, " %d", (int)process->pid);
	else if (strcmp(name, process->title) == 0 && process->container[0])
		snprintf(ret, TOP_OWNER_ID_BYTES, " %.*s", SHORT_ID, process->container);
	else if (strcmp(name, process->title) == 0)
		snprintf(ret, TOP_OWNER_ID_BYTES, " %d", (int)process->pid);
}

bool top_owner_matches(const struct timeline_process *process, const regex_t *regex)
{
	char name[PLACE_NAME_BYTES];

	timeline_process_write_called(process, name, sizeof(name));
	return regexec(regex, name, 0, NULL, 0) == 0 ||
	       (process->container[0] && regexec(regex, process->container, 0, NULL, 0) == 0);
}
