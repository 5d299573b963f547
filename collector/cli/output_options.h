// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   options that say into what a recording is drawn, and how -> outputs
 * units:   none
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 */
#ifndef FG_CLI_OUTPUT_OPTIONS_H
#define FG_CLI_OUTPUT_OPTIONS_H

#include "cli/options.h"

/* 1: the option is none of these. */
int output_options_apply(struct options *options, int option, const char *value);
/* What follows once the command is known: the format of each output, or the daemon's directory. */
int output_options_finish(struct options *options);

#endif
