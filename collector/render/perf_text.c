// SPDX-License-Identifier: Apache-2.0
/*
 * The text of perf script, for all that reads it:
 *
 *   comm PID/TID [cpu] seconds: period event:
 *   <tab>address function (file)          leaf first
 *   <empty line>
 *
 * A block is a stack, and its period the number of the stack's samples: stackcollapse-perf.pl and
 * inferno add periods up, and so come to our counts. comm is the lowest frame where that is a
 * label, which is where they put it back; spaces in it become '_', as they would make them. Where
 * it is none, it is "all". The tree has no addresses, PIDs or times, so these are 0.
 *
 * The file tells readers the kind: "/tmp/perf-0.map" generated code, "[kernel.kallsyms]" the
 * kernel, "inlined" what was inlined into the frame that follows.
 */
#include "render/render.h"
#include "render/source.h"
#include "render/text.h"

#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define ROOT	   0u
#define MAP_FILE   "/tmp/perf-0.map"
#define ANY_COMM   "all"
#define EVENT	   "cpu-clock"
#define ADDR_WIDTH 16

static const char *file_of(const struct profile_node *node)
{
	const enum frame_kind kind = (enum frame_kind)node->kind;

	if (kind == FRAME_INLINED)
		return "inlined";
	if (kind == FRAME_KERNEL)
		return "[kernel.kallsyms]";
	if (kind == FRAME_STUB || frame_kind_is_java(kind))
		return MAP_FILE;
	return node->module ? node->module : "[unknown]";
}

static void write_comm(FILE *stream, struct bytes *text, const char *name)
{
	text->len = 0;
	text_clean(text, *name ? name : "?", "?");
	for (size_t i = 0; i < text->len; i++) {
		if (text->data[i] == ' ')
			text->data[i] = '_';
	}
	fputs(bytes_text(text), stream);
}

static void write_frame(FILE *stream, struct bytes *text, const struct profile_node *node)
{
	text->len = 0;
	text_clean(text, *node->name ? node->name : "?", "?");
	fprintf(stream, "\t%*x %s (", ADDR_WIDTH, 0, bytes_text(text));
	text->len = 0;
	text_clean(text, file_of(node), "?");
	fprintf(stream, "%s)\n", bytes_text(text));
}

/* The node of the lowest frame on the way to id. */
static uint32_t lowest(const struct profile *profile, uint32_t id)
{
	while (id != ROOT && profile->nodes[id].parent != ROOT)
		id = profile->nodes[id].parent;
	return id;
}

static void write_block(const struct profile *profile, uint32_t id, struct bytes *text,
			FILE *stream)
{
	const struct profile_node *const nodes = profile->nodes;
	const uint32_t base = lowest(profile, id);
	const bool has_comm = base != ROOT && nodes[base].kind == FRAME_LABEL;

	write_comm(stream, text, has_comm ? nodes[base].name : ANY_COMM);
	fprintf(stream, " 0/0 [000] 0.000000: %" PRIu64 " " EVENT ":\n", nodes[id].self);
	for (; id != ROOT && !(has_comm && id == base); id = nodes[id].parent)
		write_frame(stream, text, &nodes[id]);
	fputc('\n', stream);
}

int render_perf_text(const struct profile *profile, FILE *stream)
{
	_cleanup_(bytes_fini) struct bytes text = {0};

	errno = 0;
	for (uint32_t id = 0; id < profile->count; id++) {
		if (profile->nodes[id].self > 0)
			write_block(profile, id, &text, stream);
		if (text.failed)
			return -ENOMEM;
		if (ferror(stream))
			return errno ? -errno : -EIO;
	}
	return 0;
}
