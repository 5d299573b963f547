// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a laid-out profile -> the frames of the static picture, as SVG elements
 * units:   pixels; levels
 * threads: any
 * errors:  the stream's, and -ENOMEM
 * source:  the elements that readers of FlameGraph's SVG look for: per frame <g><title>NAME (1,234
 *          samples, 12.34%)</title><rect/><text>label</text></g>; behind it we say more
 */
#ifndef FG_RENDER_SVG_FRAMES_H
#define FG_RENDER_SVG_FRAMES_H

#include "render/graph.h"
#include "render/svg_style.h"

#include <stdio.h>

/* A frame that is drawn. */
struct svg_box {
	uint64_t start; /* samples from the picture's left edge */
	uint32_t node;
	uint32_t depth; /* levels above the root */
};

/* The caller sets graph and style, and what the comments say. */
struct svg_frames {
	const struct graph *graph;
	const struct svg_style *style;
	struct svg_box *boxes; /* in the graph's order */
	size_t n_boxes;
	uint32_t levels;  /* levels with a frame that is wide enough to draw */
	uint32_t classes; /* a bit for each class of the profile's frames; the caller's */
	int top;	  /* y of the topmost level; the caller's, before svg_frames_write */
};

/* Finds the frames that are wide enough to draw. -ENOMEM; svg_frames_fini is needed then too. */
int svg_frames_place(struct svg_frames *frames);
void svg_frames_fini(struct svg_frames *frames);
int svg_frames_write(const struct svg_frames *frames, FILE *stream);

#endif
