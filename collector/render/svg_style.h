// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   render's options -> measures and texts of a drawing, with all defaults filled in
 * units:   pixels
 * threads: any
 * errors:  none
 * source:  none
 */
#ifndef FG_RENDER_SVG_STYLE_H
#define FG_RENDER_SVG_STYLE_H

#include "render/palette.h"
#include "render/render.h"

#define SVG_PAD 10

struct svg_style {
	int width;
	int row;
	double min_px;
	double font_size;
	double letter;		/* mean width of a letter */
	const char *count_name; /* the name of microseconds makes amounts times */
	double factor;
	uint64_t cpu_period_ns; /* processor time of a sample; 0: not known, or not counted */
	uint64_t duration_ns;	/* of the recording; 0: not known */
	double all;		/* what shares refer to */
	bool is_inverted;
	struct looks looks;
	const struct level_counts *levels; /* by node, or NULL */
};

void svg_style_init(struct svg_style *style, const struct profile *profile,
		    const struct render_options *options);

#endif
