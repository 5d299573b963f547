// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the options for outputs and for the drawing -> output paths with formats
 * units:   none
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 */
#ifndef FG_CLI_OUTPUT_OPTIONS_H
#define FG_CLI_OUTPUT_OPTIONS_H

#include "cli/options.h"

/* 1: the option belongs to another module. */
int output_options_apply(struct options *options, int option, const char *value);
/*
 * To be called once the command is known: finds the format of each output; for the daemon, takes
 * the output as its directory.
 */
int output_options_finish(struct options *options);

#endif
