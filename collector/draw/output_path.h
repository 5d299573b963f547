// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an -o option -> format and place of an output
 * units:   none
 * threads: one
 * errors:  negative errno, said on stderr
 * source:  none
 */
#ifndef FG_DRAW_OUTPUT_PATH_H
#define FG_DRAW_OUTPUT_PATH_H

#include "render/render.h"

#include <stdbool.h>

#define OUTPUT_PATHS_MAX 8 /* most outputs of one command */

struct output_path {
	const char *path; /* "-": standard output, for record and replay */
	enum render_format format;
	bool is_stdout;
};

/*
 * Checks that a file can be written at path, before the long work on its content. option is named
 * in messages.
 */
int output_path_check(const char *option, const char *path);

#endif
