// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   output paths -> files that are there whole, or not at all; standard output with a line
 *          on stderr that says how much it was
 * units:   none
 * threads: one
 * errors:  negative errno, said on stderr
 * source:  none
 */
#ifndef FG_CLI_OUTPUT_H
#define FG_CLI_OUTPUT_H

#include "cli/options.h"
#include "cli/recorder.h"

/* Whether all of them can be written, before a long recording is spent on them. */
int output_check(const struct options *options);

int output_write(const struct output_path *output, struct recorder *recorder,
		 const struct render_options *options);

#endif
