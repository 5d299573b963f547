// SPDX-License-Identifier: Apache-2.0
/* Fills in the defaults of a drawing, see svg_style.h. */
#include "render/svg_style.h"

#define WIDTH	   1200
#define ROW	   16
#define MIN_PX	   0.3
#define FONT_SIZE  12
#define FONT_WIDTH 0.59 /* width of Verdana's letters, relative to the font's size */

static double or_else(double value, double otherwise)
{
	return value > 0 ? value : otherwise;
}

void svg_style_init(struct svg_style *style, const struct profile *profile,
		    const struct render_options *options)
{
	*style = (struct svg_style){
		.width = options->width_px ? (int)options->width_px : WIDTH,
		.row = options->row_px ? (int)options->row_px : ROW,
		.min_px = or_else(options->min_width_px, MIN_PX),
		.font_size = or_else(options->font_size, FONT_SIZE),
		.count_name = options->count_name ? options->count_name
						  : profile_kind_noun(render_kind(options)),
		.factor = or_else(options->factor, 1),
		.all = or_else(options->total, (double)profile->nodes[PROFILE_ROOT].total),
		.is_inverted = options->is_inverted,
		.levels = options->levels,
	};
	if (options->min_width_percent > 0)
		style->min_px = options->min_width_percent / 100 * (style->width - 2 * SVG_PAD);
	style->letter = style->font_size * or_else(options->font_width, FONT_WIDTH);
	looks_init(&style->looks, options->palette, options->diff);
	style->looks.random = options->random;
	style->looks.chosen = options->colors;
}
