// SPDX-License-Identifier: Apache-2.0
/* Reads processes in the order of /proc, see survey.h. */
#include "process/survey.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>

int survey_begin(struct survey *survey, struct targets *targets)
{
	survey->dir = opendir("/proc");
	if (!survey->dir)
		return -ENOENT;
	survey->is_held = true;
	targets_want_all(targets);
	return 0;
}

static void close_dir(struct survey *survey)
{
	if (survey->dir)
		closedir(survey->dir);
	survey->dir = NULL;
}

bool survey_step(struct survey *survey, struct targets *targets, uint64_t until_ns)
{
	const struct dirent *entry;

	while (survey->dir && (entry = readdir(survey->dir))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0)
			continue;
		targets_find_or_read(targets, pid);
		if (clock_now_ns() >= until_ns)
			return false;
	}
	close_dir(survey);
	targets->surveys += !survey->is_done;
	survey->is_done = true;
	return true;
}

void survey_end(struct survey *survey, struct targets *targets)
{
	close_dir(survey);
	targets->surveys -= survey->is_done;
	if (survey->is_held)
		targets_unwant_all(targets);
	*survey = (struct survey){0};
}
