// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   /proc -> every process of the host in the table of processes, over several turns
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  -ENOENT: /proc cannot be listed; a process that cannot be read is passed over
 * source:  proc(5)
 *
 * A process takes a tenth of a millisecond, so that thousands of processes take longer than a turn
 * of the loop may last.
 */
#ifndef FG_PROCESS_SURVEY_H
#define FG_PROCESS_SURVEY_H

#include "process/targets.h"

#include <dirent.h>

/* A zero-filled struct is a survey that has not begun. */
struct survey {
	DIR *dir; /* while the survey goes on */
	bool is_held, is_done;
};

/* From here on until survey_end, all processes are wanted (targets_want_all). */
int survey_begin(struct survey *survey, struct targets *targets);
/*
 * Goes on until until_ns, with one process at least. Returns whether all have been read. From then
 * on until survey_end, targets_read_all has nothing to do.
 */
bool survey_step(struct survey *survey, struct targets *targets, uint64_t until_ns);
/* Legal in every state. */
void survey_end(struct survey *survey, struct targets *targets);

#endif
