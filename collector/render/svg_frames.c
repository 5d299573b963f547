// SPDX-License-Identifier: Apache-2.0
/* Writes the frames of the static picture, see svg_frames.h. */
#include "render/svg_frames.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "encode/bytes.h"
#include "encode/decimal.h"
#include "encode/text.h"
#include "profile/profile_kind.h"
#include "render/kinds.h"
#include "render/label.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROOT	     PROFILE_ROOT
#define LABEL_MARGIN 3.0 /* left and right */
#define LABEL_BASE   4.5 /* from the base line of the letters to the next box */

#define WRITE_BYTES ((size_t)32 << 10)

struct scratch {
	struct bytes out; /* not written yet */
	struct bytes name;
	struct bytes label;
};

static void scratch_fini(struct scratch *scratch)
{
	bytes_fini(&scratch->out);
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

/* Boxes that grow at their end. */
struct boxes {
	struct svg_box *list;
	size_t count;
	size_t size;
};

static int push(struct boxes *boxes, const struct svg_box *box)
{
	if (ARRAY_RESERVE(boxes->list, boxes->size, boxes->count + 1) < 0)
		return -ENOMEM;
	boxes->list[boxes->count++] = *box;
	return 0;
}

/*
 * Adds those of a node's children that are wide enough, the last one first. Children stand side by
 * side from their parent's left edge on.
 */
static int push_children(const struct svg_frames *frames, const struct svg_box *parent,
			 struct graph_children *children, struct boxes *boxes)
{
	const struct profile_node *const nodes = frames->graph->profile->nodes;
	struct svg_box box = {.start = parent->start, .depth = parent->depth + 1};
	int rc;

	children->count = 0;
	rc = graph_add_children(frames->graph, parent->node, children);
	for (size_t i = 0; i < children->count; i++)
		box.start += nodes[children->list[i].id].total;
	for (size_t i = 0; rc == 0 && i < children->count; i++) {
		box.node = children->list[i].id;
		box.start -= nodes[box.node].total;
		if (width_of(frames, nodes[box.node].total) >= frames->style->min_px)
			rc = push(boxes, &box);
	}
	return rc;
}

/* A child is not wider than its parent, so nothing below a frame that is too narrow is visited. */
int svg_frames_place(struct svg_frames *frames)
{
	struct graph_children children = {0};
	struct boxes left = {0}, placed = {0};
	int rc = push(&left, &(const struct svg_box){.node = ROOT});

	frames->levels = 1;
	while (rc == 0 && left.count > 0) {
		const struct svg_box box = left.list[--left.count];

		if (box.depth >= frames->levels)
			frames->levels = box.depth + 1;
		rc = push(&placed, &box);
		if (rc == 0)
			rc = push_children(frames, &box, &children, &left);
	}
	graph_children_fini(&children);
	free(left.list);
	frames->boxes = placed.list;
	frames->n_boxes = placed.count;
	return rc;
}

void svg_frames_fini(struct svg_frames *frames)
{
	free(frames->boxes);
	*frames = (struct svg_frames){0};
}

static uint64_t scaled(uint64_t value, double factor)
{
	const double product = (double)value * factor;

	if (factor == 1)
		return value;
	return product < 18446744073709551615.0 ? (uint64_t)(product + 0.5) : UINT64_MAX;
}

static void add_amount(const struct svg_style *style, uint64_t total, struct bytes *out)
{
	const uint64_t amount = scaled(total, style->factor);
	const struct profile_kind kind = {style->count_name, style->count_name};
	char text[PROFILE_AMOUNT_BYTES];

	if (profile_kind_is_measured(&kind)) {
		text_add_xml(out, profile_kind_amount(&kind, amount, text));
		return;
	}
	bytes_add_text(out, profile_kind_grouped(amount, text));
	bytes_add_char(out, ' ');
	text_add_xml(out, style->count_name);
}

static void add_percent(double part, double all, struct bytes *out)
{
	decimal_add(out, all > 0 ? 100.0 * part / all : 0, 2);
	bytes_add_char(out, '%');
}

/* Adds "; +1.20%, before 11.14%; new". */
static void add_change(const struct profile_diff *diff, const struct diff_counts *counts,
		       const char *title, struct bytes *out)
{
	const double change = 100 * diff_change(diff, counts->total);

	bytes_add_text(out, signbit(change) ? "; -" : "; +");
	decimal_add(out, fabs(change), 2);
	bytes_add_text(out, "%, before ");
	add_percent((double)counts->total[DIFF_BEFORE],
		    (double)diff->nodes[ROOT].total[DIFF_BEFORE], out);
	bytes_add_text(out, "; ");
	bytes_add_text(out, title);
}

/*
 * Adds (1,234 samples, 12.34%), or for a diff (1,234 samples, 12.34%; +1.20%, before 11.14%; new).
 * Times and sizes have their units: (12.3 s, 4.56%), (1.5 MiB, 4.56%).
 */
static void add_numbers(const struct svg_frames *frames, uint32_t id, struct bytes *out)
{
	const struct svg_style *const style = frames->style;
	const struct profile_diff *const diff = style->looks.diff;
	const struct diff_counts *const counts = diff ? &diff->nodes[id] : NULL;
	const uint64_t total =
		counts ? counts->total[DIFF_AFTER] : frames->graph->profile->nodes[id].total;
	const double all = counts ? (double)diff->nodes[ROOT].total[DIFF_AFTER] : style->all;

	bytes_add_text(out, " (");
	add_amount(style, total, out);
	bytes_add_text(out, ", ");
	if (id == ROOT && !counts)
		bytes_add_text(out, "100%");
	else
		add_percent((double)total, all, out);
	if (counts)
		add_change(diff, counts, style->looks.titles[change_of(diff, counts)], out);
	bytes_add_char(out, ')');
}

/* Adds ", interpreted 12%, C1 8%, C2 80%" for a method's samples. */
static void add_levels(const struct svg_frames *frames, uint32_t id, struct bytes *out)
{
	const struct level_counts *const counts =
		frames->style->levels ? &frames->style->levels[id] : NULL;
	const double total = (double)frames->graph->profile->nodes[id].total;

	for (int level = 0; counts && level_count(counts) > 1 && level < LEVELS; level++) {
		if (counts->totals[level] == 0)
			continue;
		bytes_add_text(out, ", ");
		bytes_add_text(out, level_name((enum level)level));
		bytes_add_char(out, ' ');
		decimal_add(out, 100.0 * (double)counts->totals[level] / total, 0);
		bytes_add_char(out, '%');
	}
}

/* Adds ", 1.60 s, 0.11 cores", if samples have a time. */
static void add_processor_time(const struct svg_frames *frames, uint32_t id, struct bytes *out)
{
	const struct svg_style *const style = frames->style;
	const uint64_t total = frames->graph->profile->nodes[id].total;
	char text[PROFILE_CORES_BYTES];
	uint64_t ns;

	if (__builtin_mul_overflow(total, style->cpu_period_ns, &ns) || ns == 0)
		return;
	bytes_add_text(out, ", ");
	bytes_add_text(out, profile_cores_text(ns, style->duration_ns, text));
}

static void add_title(const struct svg_frames *frames, uint32_t id, struct bytes *out)
{
	bytes_add_text(out, "<g><title>");
	text_add_xml(out, frames->graph->profile->nodes[id].name);
	add_numbers(frames, id, out);
	add_processor_time(frames, id, out);
	add_levels(frames, id, out);
	bytes_add_text(out, "</title>");
}

/* Adds #rrggbb. */
static void add_color(uint32_t rgb, struct bytes *out)
{
	char text[7] = "#";

	for (int i = 6; i > 0; i--, rgb >>= 4)
		text[i] = "0123456789abcdef"[rgb & 15];
	bytes_add(out, text, sizeof(text));
}

static void add_rect(double x, uint64_t y, double width, int height, uint32_t rgb,
		     struct bytes *out)
{
	bytes_add_text(out, "<rect x=\"");
	decimal_add(out, x, 2);
	bytes_add_text(out, "\" y=\"");
	decimal_add_whole(out, y);
	bytes_add_text(out, "\" width=\"");
	decimal_add(out, width, 2);
	bytes_add_text(out, "\" height=\"");
	decimal_add(out, height, 0);
	bytes_add_text(out, "\" fill=\"");
	add_color(rgb, out);
	bytes_add_text(out, "\"/>");
}

static void add_label(double x, double y, const char *label, struct bytes *out)
{
	bytes_add_text(out, "<text x=\"");
	decimal_add(out, x, 2);
	bytes_add_text(out, "\" y=\"");
	decimal_add(out, y, 1);
	bytes_add_text(out, "\">");
	text_add_xml(out, label);
	bytes_add_text(out, "</text>");
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

static void add_frame(const struct svg_frames *frames, const struct svg_box *box,
		      struct scratch *scratch)
{
	const struct graph *const graph = frames->graph;
	const uint32_t id = box->node;
	const struct profile_node *const node = &graph->profile->nodes[id];
	const struct svg_style *const style = frames->style;
	const struct look look = look_of(&style->looks, graph->profile, id);
	const double x = SVG_PAD + width_of(frames, box->start);
	const double width = width_of(frames, node->total);
	const uint32_t row = style->is_inverted ? box->depth : frames->levels - 1 - box->depth;
	const uint64_t y = (uint64_t)frames->top + (uint64_t)row * (uint64_t)style->row;
	const char *const label = label_of(frames, scratch, node, width);
	struct bytes *const out = &scratch->out;

	add_title(frames, id, out);
	add_rect(x, y, width, style->row - 1, look_rgb(&style->looks, graph->profile, id, look),
		 out);
	if (*label)
		add_label(x + LABEL_MARGIN, (double)y + style->row - LABEL_BASE, label, out);
	bytes_add_text(out, "</g>\n");
}

int svg_frames_write(const struct svg_frames *frames, FILE *stream)
{
	_cleanup_(scratch_fini) struct scratch scratch = {0};

	fputs("<g id=\"frames\">\n", stream);
	for (size_t i = 0; i < frames->n_boxes; i++) {
		add_frame(frames, &frames->boxes[i], &scratch);
		if (scratch.out.len < WRITE_BYTES && i + 1 < frames->n_boxes)
			continue;
		fwrite(scratch.out.data, 1, scratch.out.len, stream);
		scratch.out.len = 0;
	}
	fputs("</g>\n", stream);
	return scratch.out.failed || scratch.name.failed || scratch.label.failed ? -ENOMEM : 0;
}
