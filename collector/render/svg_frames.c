// SPDX-License-Identifier: Apache-2.0
/* Writes the frames of the static picture, see svg_frames.h. The root stands at the bottom. */
#include "render/svg_frames.h"

#include "render/bytes.h"
#include "render/kinds.h"
#include "render/label.h"
#include "render/text.h"

#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define ROOT	     0u
#define NUMBER_BYTES 32
#define LABEL_MARGIN 3.0  /* on either side */
#define LABEL_BASE   11.5 /* from the box's top to the letters' feet */

struct scratch {
	struct bytes name;
	struct bytes label;
};

static void scratch_fini(struct scratch *scratch)
{
	bytes_fini(&scratch->name);
	bytes_fini(&scratch->label);
}

static double width_of(const struct svg_frames *frames, uint64_t samples)
{
	const uint64_t all = frames->graph->profile->nodes[ROOT].total;

	return all ? (double)samples / (double)all * (SVG_WIDTH - 2 * SVG_PAD) : 0;
}

static enum kind node_kind(const struct profile_node *node)
{
	return kind_of((enum frame_kind)node->kind, node->name);
}

void svg_frames_measure(struct svg_frames *frames)
{
	const struct graph *const graph = frames->graph;

	frames->levels = 1;
	frames->kinds = 0;
	for (uint32_t i = 0; i < graph->count; i++) {
		const uint32_t id = graph->order[i];
		const struct profile_node *const node = &graph->profile->nodes[id];

		frames->kinds |= 1u << node_kind(node);
		if (graph->depth[id] >= frames->levels &&
		    width_of(frames, node->total) >= frames->min_px)
			frames->levels = graph->depth[id] + 1;
	}
}

/* 1234567 as 1,234,567. */
static const char *with_commas(uint64_t value, char buf[NUMBER_BYTES])
{
	char *p = buf + NUMBER_BYTES;

	*--p = '\0';
	for (int digits = 0; digits == 0 || value > 0; value /= 10) {
		if (digits > 0 && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + value % 10);
		digits++;
	}
	return p;
}

static void write_title(const struct svg_frames *frames, uint32_t id, FILE *stream)
{
	const struct profile_node *const nodes = frames->graph->profile->nodes;
	char number[NUMBER_BYTES];

	fputs("<g><title>", stream);
	text_write_xml(stream, nodes[id].name);
	fprintf(stream, " (%s samples, ", with_commas(nodes[id].total, number));
	if (id == ROOT)
		fputs("100%)</title>", stream);
	else
		fprintf(stream, "%.2f%%)</title>",
			100.0 * (double)nodes[id].total / (double)nodes[ROOT].total);
}

static const char *label_of(struct scratch *scratch, const struct profile_node *node, double width)
{
	const double columns = (width - 2 * LABEL_MARGIN) / SVG_LETTER;

	if (columns < LABEL_MIN_COLUMNS)
		return "";
	scratch->name.len = 0;
	text_clean(&scratch->name, node->name, "\xef\xbf\xbd");
	return label_fit(&scratch->label, bytes_text(&scratch->name), node_kind(node),
			 (size_t)columns);
}

static void write_frame(const struct svg_frames *frames, uint32_t id, struct scratch *scratch,
			FILE *stream)
{
	const struct graph *const graph = frames->graph;
	const struct profile_node *const node = &graph->profile->nodes[id];
	const double x = SVG_PAD + width_of(frames, graph->start[id]);
	const double width = width_of(frames, node->total);
	const uint64_t y =
		(uint64_t)frames->top + (uint64_t)(frames->levels - 1 - graph->depth[id]) * SVG_ROW;
	const char *const label = label_of(scratch, node, width);

	write_title(frames, id, stream);
	fprintf(stream,
		"<rect x=\"%.2f\" y=\"%" PRIu64 "\" width=\"%.2f\" height=\"%d\" fill=\"#%06" PRIx32
		"\"/>",
		x, y, width, SVG_ROW - 1, kind_rgb(node_kind(node), kind_shade_of(node->name)));
	if (*label) {
		fprintf(stream, "<text x=\"%.2f\" y=\"%.1f\">", x + LABEL_MARGIN,
			(double)y + LABEL_BASE);
		text_write_xml(stream, label);
		fputs("</text>", stream);
	}
	fputs("</g>\n", stream);
}

int svg_frames_write(const struct svg_frames *frames, FILE *stream)
{
	_cleanup_(scratch_fini) struct scratch scratch = {0};
	const struct graph *const graph = frames->graph;

	fputs("<g id=\"frames\">\n", stream);
	for (uint32_t i = 0; i < graph->count; i++) {
		const uint32_t id = graph->order[i];
		const double width = width_of(frames, graph->profile->nodes[id].total);

		if (id == ROOT || width >= frames->min_px)
			write_frame(frames, id, &scratch, stream);
	}
	fputs("</g>\n", stream);
	return scratch.name.failed || scratch.label.failed ? -ENOMEM : 0;
}
