// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an -o option -> what is written, and where to
 * units:   none
 * threads: one
 * errors:  negative errno, said on stderr
 * source:  none
 */
#ifndef FG_DRAW_OUTPUT_PATH_H
#define FG_DRAW_OUTPUT_PATH_H

#include "render/render.h"

#include <stdbool.h>

#define OUTPUT_PATHS_MAX 8 /* of one command */

struct output_path {
	const char *path; /* "-" of record: standard output */
	enum render_format format;
	bool is_stdout;
};

/* Whether a file can be written there, before long work is spent on its contents. */
int output_path_check(const char *path);

#endif
