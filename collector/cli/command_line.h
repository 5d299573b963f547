// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the command line of every command but render and diff -> struct options
 * units:   as options.h
 * threads: one
 * errors:  -EINVAL, said on stderr; the caller exits with 2
 * source:  getopt_long(3)
 */
#ifndef FG_CLI_COMMAND_LINE_H
#define FG_CLI_COMMAND_LINE_H

#include "cli/options.h"

int command_line_parse(struct options *options, int argc, char **argv);

#endif
