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

/* options->help_of is the command whose help would serve, also if the command line is wrong. */
int command_line_parse(struct options *options, int argc, char **argv);
/* The command as people type it; "": it has no word. */
const char *command_line_word(enum command command);

#endif
