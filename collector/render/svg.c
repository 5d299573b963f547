// SPDX-License-Identifier: Apache-2.0
/*
 * One file with three parts: a picture that needs no script, the whole profile as data (see
 * svg_data.h), and a script that draws the picture again from the data, in the window's width, for
 * zoom and search. Nothing in the file comes from the network.
 *
 * The picture, from top to bottom: title, subtitle, frames (the root lowest unless inverted),
 * legend, notes.
 */
#include "encode/text.h"
#include "render/graph.h"
#include "render/kinds.h"
#include "render/name_colors.h"
#include "render/render.h"
#include "render/svg_assets.h"
#include "render/svg_data.h"
#include "render/svg_frames.h"

#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define DEFAULT_TITLE "Flame Graph"
#define DEFAULT_FONT  "Verdana, 'DejaVu Sans', sans-serif"
#define TITLE_BASE    26 /* from the top of the picture to the base line of the letters */
#define SUBTITLE_BASE 46
#define FRAMES_GAP    12
#define LINE	      20 /* height of a line of legend and notes */
#define SWATCH	      12
#define LEGEND_SHADE  (KIND_SHADES / 2)

/* The place of the next legend entry. */
struct place {
	double x;
	double y;
};

static double legend_entry_width(const struct svg_frames *frames, unsigned class)
{
	const double letters = (double)strlen(frames->style->looks.titles[class]);

	return SWATCH + 6 + letters * frames->style->letter + 14;
}

static bool has_entry(const struct svg_frames *frames, unsigned class)
{
	return frames->style->looks.has_legend && (frames->classes >> class & 1) != 0;
}

/* Moves place to a new line if an entry of this width does not fit into the line. */
static void make_room(const struct svg_frames *frames, struct place *place, double width)
{
	if (place->x + width <= frames->style->width - SVG_PAD)
		return;
	place->x = SVG_PAD;
	place->y += LINE;
}

static double legend_height(const struct svg_frames *frames)
{
	struct place place = {SVG_PAD, LINE};

	for (unsigned class = 0; class < frames->style->looks.n_classes; class ++) {
		if (!has_entry(frames, class))
			continue;
		make_room(frames, &place, legend_entry_width(frames, class));
		place.x += legend_entry_width(frames, class);
	}
	return place.y;
}

static void write_legend(const struct svg_frames *frames, double top, FILE *stream)
{
	const struct looks *const looks = &frames->style->looks;
	struct place place = {SVG_PAD, top};

	fputs("<g id=\"legend\" fill=\"#333333\" class=\"fg-soft\">\n", stream);
	for (unsigned class = 0; class < looks->n_classes; class ++) {
		if (!has_entry(frames, class))
			continue;
		make_room(frames, &place, legend_entry_width(frames, class));
		fprintf(stream,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" "
			"fill=\"#%06" PRIx32 "\"/><text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
			place.x, place.y, SWATCH, SWATCH, looks->rgb[class][LEGEND_SHADE],
			place.x + SWATCH + 6, place.y + SWATCH - 1.5, looks->titles[class]);
		place.x += legend_entry_width(frames, class);
	}
	fputs("</g>\n", stream);
}

/* Writes the classes for the script: [["kernel","#e18829",...one colour for each shade...],...] */
static void write_palette(const struct svg_frames *frames, FILE *stream)
{
	const struct looks *const looks = &frames->style->looks;

	fprintf(stream, "<metadata id=\"fg-kinds\" data-legend=\"%d\">[", looks->has_legend);
	for (unsigned class = 0; class < looks->n_classes; class ++) {
		fprintf(stream, "%s[\"%s\"", class ? ",\n" : "", looks->titles[class]);
		for (unsigned shade = 0; shade < KIND_SHADES; shade++)
			fprintf(stream, ",\"#%06" PRIx32 "\"", looks->rgb[class][shade]);
		fputs("]", stream);
	}
	fputs("]</metadata>\n", stream);
}

static void write_attribute(const char *name, const char *text, FILE *stream)
{
	fprintf(stream, " data-%s=\"", name);
	text_write_xml(stream, text);
	fputs("\"", stream);
}

/* Writes the settings for the script. Numbers that are 0 are left out. */
static void write_settings(const struct svg_frames *frames, const struct render_options *options,
			   FILE *stream)
{
	const struct svg_style *const style = frames->style;

	fprintf(stream, "<metadata id=\"fg-settings\" data-min=\"%g\" data-row=\"%d\"",
		style->min_px, style->row);
	fprintf(stream, " data-font-size=\"%g\" data-factor=\"%g\"", style->font_size,
		style->factor);
	if (style->cpu_period_ns)
		fprintf(stream, " data-cpu-period=\"%" PRIu64 "\" data-duration=\"%" PRIu64 "\"",
			style->cpu_period_ns, style->duration_ns);
	if (options->width_px)
		fprintf(stream, " data-width=\"%d\"", style->width);
	if (options->total > 0)
		fprintf(stream, " data-total=\"%.17g\"", options->total);
	if (style->is_inverted)
		fputs(" data-inverted=\"1\"", stream);
	if (options->diff)
		fprintf(stream, " data-diff=\"%s\"",
			options->diff->options.is_raw ? "raw" : "shares");
	write_attribute("count-name", style->count_name, stream);
	write_attribute("name-type", options->name_type ? options->name_type : "", stream);
	fputs("></metadata>\n", stream);
}

static void write_text(const char *attributes, double y, const char *text, FILE *stream)
{
	fprintf(stream, "<text %s y=\"%.1f\">", attributes, y);
	text_write_xml(stream, text);
	fputs("</text>\n", stream);
}

static void write_head(const struct svg_style *style, const struct render_options *options,
		       const char *title, double height, FILE *stream)
{
	fprintf(stream,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" id=\"fg\" "
		"width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" font-family=\"",
		style->width, height, style->width, height);
	text_write_xml(stream, options->font ? options->font : DEFAULT_FONT);
	fprintf(stream, "\" font-size=\"%g\">\n<title>", style->font_size);
	text_write_xml(stream, title);
	fprintf(stream, "</title>\n<style><![CDATA[\n%s]]></style>\n", svg_app_css);
	if (options->background)
		fprintf(stream, "<style>#fg { --light-paper: #%06" PRIx32 "; }</style>\n",
			options->background);
	fprintf(stream,
		"<rect class=\"fg-paper\" width=\"100%%\" height=\"100%%\" fill=\"#%06" PRIx32
		"\"/>\n",
		options->background ? options->background : 0xffffff);
}

static int write_document(struct svg_frames *frames, const struct svg_data *data,
			  const struct render_options *options, FILE *stream)
{
	const char *const title = options->title ? options->title : DEFAULT_TITLE;
	double legend_top;
	double bottom;
	int rc;

	frames->top = (options->subtitle ? SUBTITLE_BASE : TITLE_BASE) + FRAMES_GAP;
	legend_top = frames->top + (double)frames->levels * frames->style->row + FRAMES_GAP;
	bottom = legend_top + legend_height(frames);
	write_head(frames->style, options, title, bottom + (options->notes ? LINE : 0), stream);
	write_text(
		"id=\"title\" class=\"fg-ink\" x=\"50%\" text-anchor=\"middle\" font-size=\"17\"",
		TITLE_BASE, title, stream);
	if (options->subtitle)
		write_text("id=\"subtitle\" class=\"fg-soft\" x=\"50%\" text-anchor=\"middle\" "
			   "fill=\"#555555\"",
			   SUBTITLE_BASE, options->subtitle, stream);
	rc = svg_frames_write(frames, stream);
	write_legend(frames, legend_top, stream);
	if (options->notes)
		write_text("id=\"notes\" class=\"fg-soft\" x=\"10\" fill=\"#555555\"", bottom + 10,
			   options->notes, stream);
	write_palette(frames, stream);
	write_settings(frames, options, stream);
	fputs("<metadata id=\"fg-data\">", stream);
	if (rc == 0)
		rc = svg_data_write(data, frames->style->levels, stream);
	fprintf(stream, "</metadata>\n<script><![CDATA[\n%s]]></script>\n</svg>\n", svg_app_js);
	return rc;
}

/* Gives every name its colour, for this file and for later readers of the colours. */
static int choose_colors(const struct svg_frames *frames, struct name_colors *colors)
{
	const struct looks *const looks = &frames->style->looks;
	const struct graph *const graph = frames->graph;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && !looks->diff && i < graph->count; i++) {
		const uint32_t id = graph_node(graph, i);

		rc = name_colors_add(
			colors, &graph->profile->nodes[id],
			look_rgb(looks, graph->profile, id, look_of(looks, graph->profile, id)));
	}
	return rc;
}

int render_svg(const struct profile *profile, const struct render_options *options, FILE *stream)
{
	static const struct render_options defaults = {0};
	_cleanup_(graph_fini) struct graph graph = {0};
	_cleanup_(svg_data_fini) struct svg_data data = {0};
	struct svg_style style;
	_cleanup_(svg_frames_fini) struct svg_frames frames = {.graph = &graph, .style = &style};
	int rc = graph_init(&graph, profile);

	if (rc < 0)
		return rc;
	if (!options)
		options = &defaults;
	svg_style_init(&style, profile, options);
	rc = options->colors ? choose_colors(&frames, options->colors) : 0;
	if (rc == 0)
		rc = svg_frames_place(&frames);
	if (rc == 0)
		rc = svg_data_init(&data, &graph, &style.looks, NULL);
	if (rc < 0)
		return rc;
	frames.classes = data.classes;
	errno = 0;
	rc = write_document(&frames, &data, options, stream);
	if (rc == 0 && ferror(stream))
		rc = errno ? -errno : -EIO;
	return rc;
}
