// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   output paths -> files that are whole or absent; for standard output, a line on stderr
 *          with the number of bytes and their checksum
 * units:   none
 * threads: one
 * errors:  negative errno, said on stderr
 * source:  none
 */
#ifndef FG_CLI_OUTPUT_H
#define FG_CLI_OUTPUT_H

#include "cli/options.h"
#include "cli/recorder.h"

/* Checks before a long recording that all outputs can be written. */
int output_check(const struct options *options);

int output_write(const struct output_path *output, struct recorder *recorder,
		 const struct render_options *options);

#endif
