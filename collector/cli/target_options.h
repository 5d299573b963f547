// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the options that choose processes to be recorded or listed -> PID and struct selector
 * units:   none
 * threads: one
 * errors:  -EINVAL, said on stderr
 * source:  none
 */
#ifndef FG_CLI_TARGET_OPTIONS_H
#define FG_CLI_TARGET_OPTIONS_H

#include "cli/options.h"

/* 1: the option belongs to another module. */
int target_options_apply(struct options *options, int option, const char *value);

#endif
