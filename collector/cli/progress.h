// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a line on the terminal that is rewritten while a recording runs
 * units:   seconds, samples
 * threads: one
 * errors:  none
 * source:  none
 *
 * Off a terminal nothing is shown: plain lines before and after say enough there. With lines there
 * is a line a second wherever stderr leads, for whoever shows them at the other end of a
 * connection, and so that this one is never idle for long.
 */
#ifndef FG_CLI_PROGRESS_H
#define FG_CLI_PROGRESS_H

#include "live/recording.h"

void progress_set_lines(bool has_lines);
void progress_show(const struct recording_status *status, uint64_t duration_ns);
void progress_wait(unsigned jvms); /* while agents are waited for */
void progress_clear(void);

#endif
