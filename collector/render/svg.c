// SPDX-License-Identifier: Apache-2.0
/*
 * One file that is three things: a picture that needs no script, the whole profile as data (see
 * svg_data.h), and the script that draws the picture anew from that data in a window's width, for
 * zoom and search. Nothing in it comes from the network.
 *
 * The picture, from top to bottom: title, subtitle, frames with the root lowest, legend, notes.
 */
#include "render/graph.h"
#include "render/kinds.h"
#include "render/render.h"
#include "render/svg_assets.h"
#include "render/svg_data.h"
#include "render/svg_frames.h"
#include "render/text.h"

#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define DEFAULT_TITLE  "Flame Graph"
#define DEFAULT_MIN_PX 0.3
#define TITLE_BASE     26 /* from the picture's top to the letters' feet */
#define SUBTITLE_BASE  46
#define FRAMES_GAP     12
#define LINE	       20 /* of legend and notes */
#define SWATCH	       12
#define LEGEND_SHADE   (KIND_SHADES / 2)

/* Where the next legend entry goes. */
struct place {
	double x;
	double y;
};

static double legend_entry_width(enum kind kind)
{
	return SWATCH + 6 + (double)strlen(kind_title(kind)) * SVG_LETTER + 14;
}

static bool has_kind(const struct svg_frames *frames, int kind)
{
	return (frames->kinds >> kind & 1) != 0;
}

/* Moves place to where an entry of this width goes: a new line if this one is full. */
static void make_room(struct place *place, double width)
{
	if (place->x + width <= SVG_WIDTH - SVG_PAD)
		return;
	place->x = SVG_PAD;
	place->y += LINE;
}

static double legend_height(const struct svg_frames *frames)
{
	struct place place = {SVG_PAD, LINE};

	for (int kind = 0; kind < KINDS; kind++) {
		const double width = legend_entry_width((enum kind)kind);

		if (!has_kind(frames, kind))
			continue;
		make_room(&place, width);
		place.x += width;
	}
	return place.y;
}

static void write_legend(const struct svg_frames *frames, double top, FILE *stream)
{
	struct place place = {SVG_PAD, top};

	fputs("<g id=\"legend\" fill=\"#333333\" class=\"fg-soft\">\n", stream);
	for (int kind = 0; kind < KINDS; kind++) {
		const double width = legend_entry_width((enum kind)kind);

		if (!has_kind(frames, kind))
			continue;
		make_room(&place, width);
		fprintf(stream,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" "
			"fill=\"#%06" PRIx32 "\"/><text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
			place.x, place.y, SWATCH, SWATCH, kind_rgb((enum kind)kind, LEGEND_SHADE),
			place.x + SWATCH + 6, place.y + SWATCH - 1.5, kind_title((enum kind)kind));
		place.x += width;
	}
	fputs("</g>\n", stream);
}

/* What the script must know of kinds: [["kernel","#e18829",...one a shade...],...] */
static void write_palette(const struct svg_frames *frames, FILE *stream)
{
	fprintf(stream, "<metadata id=\"fg-kinds\" data-min=\"%g\">[", frames->min_px);
	for (int kind = 0; kind < KINDS; kind++) {
		fprintf(stream, "%s[\"%s\"", kind ? ",\n" : "", kind_title((enum kind)kind));
		for (unsigned shade = 0; shade < KIND_SHADES; shade++)
			fprintf(stream, ",\"#%06" PRIx32 "\"", kind_rgb((enum kind)kind, shade));
		fputs("]", stream);
	}
	fputs("]</metadata>\n", stream);
}

static void write_text(const char *attributes, double y, const char *text, FILE *stream)
{
	fprintf(stream, "<text %s y=\"%.1f\">", attributes, y);
	text_write_xml(stream, text);
	fputs("</text>\n", stream);
}

static void write_head(double height, FILE *stream)
{
	fprintf(stream,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" id=\"fg\" "
		"width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" "
		"font-family=\"Verdana, 'DejaVu Sans', sans-serif\" font-size=\"%d\">\n"
		"<style><![CDATA[\n%s]]></style>\n"
		"<rect class=\"fg-paper\" width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
		SVG_WIDTH, height, SVG_WIDTH, height, SVG_FONT_SIZE, svg_app_css);
}

static int write_document(struct svg_frames *frames, const struct render_options *options,
			  FILE *stream)
{
	const char *const title = options->title ? options->title : DEFAULT_TITLE;
	double legend_top;
	double bottom;
	int rc;

	frames->top = (options->subtitle ? SUBTITLE_BASE : TITLE_BASE) + FRAMES_GAP;
	legend_top = frames->top + (double)frames->levels * SVG_ROW + FRAMES_GAP;
	bottom = legend_top + legend_height(frames);
	write_head(bottom + (options->notes ? LINE : 0), stream);
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
	fputs("<metadata id=\"fg-data\">", stream);
	if (rc == 0)
		rc = svg_data_write(frames->graph, stream);
	fprintf(stream, "</metadata>\n<script><![CDATA[\n%s]]></script>\n</svg>\n", svg_app_js);
	return rc;
}

int render_svg(const struct profile *profile, const struct render_options *options, FILE *stream)
{
	static const struct render_options defaults = {0};
	_cleanup_(graph_fini) struct graph graph = {0};
	struct svg_frames frames = {.graph = &graph, .min_px = DEFAULT_MIN_PX};
	int rc = graph_init(&graph, profile);

	if (rc < 0)
		return rc;
	if (!options)
		options = &defaults;
	if (options->min_width_px > 0)
		frames.min_px = options->min_width_px;
	svg_frames_measure(&frames);
	errno = 0;
	rc = write_document(&frames, options, stream);
	if (rc == 0 && ferror(stream))
		rc = errno ? -errno : -EIO;
	return rc;
}
