// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a laid-out profile -> the frames of the static picture, as SVG elements
 * units:   pixels; levels
 * threads: any
 * errors:  the stream's own, and -ENOMEM
 * source:  the elements that tools which read FlameGraph's SVG look for: per frame
 *          <g><title>NAME (1,234 samples, 12.34%)</title><rect/><text>label</text></g>
 */
#ifndef FG_RENDER_SVG_FRAMES_H
#define FG_RENDER_SVG_FRAMES_H

#include "render/graph.h"
#include "render/svg_style.h"

#include <stdio.h>

struct svg_frames {
	const struct graph *graph;
	const struct svg_style *style;
	uint32_t levels;  /* that have a frame wide enough */
	uint32_t classes; /* a bit for each class that occurs, drawn or not */
	int top;	  /* of the topmost level; for the caller to set before writing */
};

void svg_frames_measure(struct svg_frames *frames);
int svg_frames_write(const struct svg_frames *frames, FILE *stream);

#endif
