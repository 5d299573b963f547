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
#include "draw/draw_options.h"

/* Checks before a long recording that all outputs can be written. */
int output_check(const struct options *options);

/*
 * Writes all outputs and the capture of a recording that is done. Says on standard output what was
 * written, and how good the recording is; on stderr if an output is standard output.
 */
int output_write_all(struct recorder *recorder, const struct options *options,
		     const struct recording_status *status);

/*
 * Draws what render and diff draw; if options ask for the checksum, standard output gets it
 * counted, and stderr a line.
 */
int output_draw(struct draw_options *options, int (*draw)(struct draw_options *options));

#endif
