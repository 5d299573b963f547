// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   options that say for how long, how often and how stacks are sampled -> values
 * units:   seconds, hertz and bytes on the command line, nanoseconds behind it
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 */
#ifndef FG_CLI_SAMPLE_OPTIONS_H
#define FG_CLI_SAMPLE_OPTIONS_H

#include "cli/options.h"

/* 1: the option is none of these. */
int sample_options_apply(struct options *options, int option, const char *value);
/* What follows once the command is known: its rate, and no snapshots along frame pointers. */
void sample_options_finish(struct options *options);

#endif
