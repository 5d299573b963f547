// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a line on the terminal that is rewritten while a recording runs
 * units:   seconds, samples
 * threads: one
 * errors:  none
 * source:  none
 *
 * Where stderr is no terminal, nothing is shown: the command's first and last lines say enough.
 * With has_lines, a line is written each second wherever stderr leads, for a program that shows the
 * lines at the other end of a connection. The lines also keep the connection from being idle.
 */
#ifndef FG_CLI_PROGRESS_H
#define FG_CLI_PROGRESS_H

#include "recording/recording.h"

void progress_set_lines(bool has_lines);
void progress_show(const struct recording_status *status, uint64_t duration_ns);
void progress_wait(unsigned jvms); /* while agents are waited for */
void progress_clear(void);

#endif
