// SPDX-License-Identifier: Apache-2.0
/* Writes the frames of the static picture, see svg_frames.h. */
#include "render/svg_frames.h"

#include "base/cleanup.h"
#include "encode/bytes.h"
#include "encode/text.h"
#include "profile/profile_kind.h"
#include "render/kinds.h"
#include "render/label.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define ROOT	     PROFILE_ROOT
#define LABEL_MARGIN 3.0 /* left and right */
#define LABEL_BASE   4.5 /* from the base line of the letters to the next box */

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

	return all ? (double)samples / (double)all * (frames->style->width - 2 * SVG_PAD) : 0;
}

static enum kind node_kind(const struct profile_node *node)
{
	return kind_of((enum frame_kind)node->kind, node->name);
}

void svg_frames_measure(struct svg_frames *frames)
{
	const struct graph *const graph = frames->graph;

	frames->levels = 1;
	frames->classes = 0;
	for (uint32_t i = 0; i < graph->count; i++) {
		const uint32_t id = graph->order[i];
		const struct profile_node *const node = &graph->profile->nodes[id];

		frames->classes |= 1u << look_class_of(&frames->style->looks, graph->profile, id);
		if (graph->depth[id] >= frames->levels &&
		    width_of(frames, node->total) >= frames->style->min_px)
			frames->levels = graph->depth[id] + 1;
	}
}

static uint64_t scaled(uint64_t value, double factor)
{
	const double product = (double)value * factor;

	if (factor == 1)
		return value;
	return product < 18446744073709551615.0 ? (uint64_t)(product + 0.5) : UINT64_MAX;
}

static void write_amount(const struct svg_style *style, uint64_t total, FILE *stream)
{
	const uint64_t amount = scaled(total, style->factor);
	const struct profile_kind kind = {style->count_name, style->count_name};
	char text[PROFILE_AMOUNT_BYTES];

	if (profile_kind_is_time(&kind)) {
		text_write_xml(stream, profile_kind_amount(&kind, amount, text));
		return;
	}
	fprintf(stream, "%s ", profile_kind_grouped(amount, text));
	text_write_xml(stream, style->count_name);
}

/*
 * Writes (1,234 samples, 12.34%), or for a diff (1,234 samples, 12.34%; +1.20%, before 11.14%;
 * new). Times are in seconds: (12.3 s, 4.56%).
 */
static void write_numbers(const struct svg_frames *frames, uint32_t id, FILE *stream)
{
	const struct svg_style *const style = frames->style;
	const struct profile_diff *const diff = style->looks.diff;
	const struct diff_counts *const counts = diff ? &diff->nodes[id] : NULL;
	const uint64_t total =
		counts ? counts->total[DIFF_AFTER] : frames->graph->profile->nodes[id].total;
	const double all = counts ? (double)diff->nodes[ROOT].total[DIFF_AFTER] : style->all;
	const double all_before = counts ? (double)diff->nodes[ROOT].total[DIFF_BEFORE] : 0;

	fputs(" (", stream);
	write_amount(style, total, stream);
	if (id == ROOT && !counts) {
		fputs(", 100%)", stream);
		return;
	}
	fprintf(stream, ", %.2f%%", all > 0 ? 100.0 * (double)total / all : 0);
	if (counts)
		fprintf(stream, "; %+.2f%%, before %.2f%%; %s",
			100 * diff_change(diff, counts->total),
			all_before > 0 ? 100.0 * (double)counts->total[DIFF_BEFORE] / all_before
				       : 0,
			style->looks.titles[change_of(diff, counts)]);
	fputs(")", stream);
}

/* Writes ", interpreted 12%, C1 8%, C2 80%" for a method's samples. */
static void write_levels(const struct svg_frames *frames, uint32_t id, FILE *stream)
{
	const struct level_counts *const counts =
		frames->style->levels ? &frames->style->levels[id] : NULL;
	const double total = (double)frames->graph->profile->nodes[id].total;

	for (int level = 0; counts && level_count(counts) > 1 && level < LEVELS; level++) {
		if (counts->totals[level] > 0)
			fprintf(stream, ", %s %.0f%%", level_name((enum level)level),
				100.0 * (double)counts->totals[level] / total);
	}
}

static void write_title(const struct svg_frames *frames, uint32_t id, FILE *stream)
{
	fputs("<g><title>", stream);
	text_write_xml(stream, frames->graph->profile->nodes[id].name);
	write_numbers(frames, id, stream);
	write_levels(frames, id, stream);
	fputs("</title>", stream);
}

static const char *label_of(const struct svg_frames *frames, struct scratch *scratch,
			    const struct profile_node *node, double width)
{
	const double columns = (width - 2 * LABEL_MARGIN) / frames->style->letter;

	if (columns < LABEL_MIN_COLUMNS)
		return "";
	scratch->name.len = 0;
	text_clean(&scratch->name, node->name, UTF8_REPLACEMENT);
	return label_fit(&scratch->label, bytes_text(&scratch->name), node_kind(node),
			 (size_t)columns);
}

static void write_frame(const struct svg_frames *frames, uint32_t id, struct scratch *scratch,
			FILE *stream)
{
	const struct graph *const graph = frames->graph;
	const struct profile_node *const node = &graph->profile->nodes[id];
	const struct svg_style *const style = frames->style;
	const struct look look = look_of(&style->looks, graph->profile, id);
	const double x = SVG_PAD + width_of(frames, graph->start[id]);
	const double width = width_of(frames, node->total);
	const uint32_t row =
		style->is_inverted ? graph->depth[id] : frames->levels - 1 - graph->depth[id];
	const uint64_t y = (uint64_t)frames->top + (uint64_t)row * (uint64_t)style->row;
	const char *const label = label_of(frames, scratch, node, width);

	write_title(frames, id, stream);
	fprintf(stream,
		"<rect x=\"%.2f\" y=\"%" PRIu64 "\" width=\"%.2f\" height=\"%d\" fill=\"#%06" PRIx32
		"\"/>",
		x, y, width, style->row - 1, look_rgb(&style->looks, graph->profile, id, look));
	if (*label) {
		fprintf(stream, "<text x=\"%.2f\" y=\"%.1f\">", x + LABEL_MARGIN,
			(double)y + style->row - LABEL_BASE);
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

		if (id == ROOT || width >= frames->style->min_px)
			write_frame(frames, id, &scratch, stream);
	}
	fputs("</g>\n", stream);
	return scratch.name.failed || scratch.label.failed ? -ENOMEM : 0;
}
