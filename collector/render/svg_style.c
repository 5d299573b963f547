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

/* Of a comparison, and of counts under another name or in other parts, nobody says a time. */
static void set_processor_time(struct svg_style *style, const struct render_options *options)
{
	const struct profile_info *const info = options->info;

	if (!info || options->diff || options->count_name || style->factor != 1 ||
	    !profile_kind_is_same(render_kind(options), &profile_kind_cpu))
		return;
	style->cpu_period_ns = profile_cpu_period_ns(info->event, info->hz);
	style->duration_ns = info->duration_ns;
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
	set_processor_time(style, options);
	if (options->min_width_percent > 0)
		style->min_px = options->min_width_percent / 100 * (style->width - 2 * SVG_PAD);
	style->letter = style->font_size * or_else(options->font_width, FONT_WIDTH);
	looks_init(&style->looks, options->palette, options->diff);
	style->looks.random = options->random;
	style->looks.chosen = options->colors;
}
