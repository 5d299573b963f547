// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the options for duration, rate, event and unwinding of samples -> values
 * units:   seconds, hertz and bytes on the command line, nanoseconds in struct options
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 */
#ifndef FG_CLI_SAMPLE_OPTIONS_H
#define FG_CLI_SAMPLE_OPTIONS_H

#include "cli/options.h"

/* 1: the option belongs to another module. */
int sample_options_apply(struct options *options, int option, const char *value);
/*
 * To be called once the command is known: sets the default rate of the command, and no snapshots if
 * stacks are walked along frame pointers.
 */
void sample_options_finish(struct options *options);

#endif
