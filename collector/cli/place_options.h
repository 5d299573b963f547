// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the options for the socket, perf maps and the jitdump -> paths
 * units:   none
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 */
#ifndef FG_CLI_PLACE_OPTIONS_H
#define FG_CLI_PLACE_OPTIONS_H

#include "cli/options.h"

/* 1: the option belongs to another module. */
int place_options_apply(struct options *options, int option, const char *value);

#endif
