// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the command line says of outputs -> files, standard output or a directory
 * units:   none
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 */
#ifndef FG_CLI_OUTPUT_OPTIONS_H
#define FG_CLI_OUTPUT_OPTIONS_H

#include "cli/options.h"

/* Gives each output its format, and outputs that were not named their names. */
int output_options_finish(struct options *options);

#endif
