// SPDX-License-Identifier: Apache-2.0
/*
 * speedscope's own file:
 *
 *   {"$schema":S,"shared":{"frames":[{"name":N,"file":F,"line":L},...]},
 *    "profiles":[{"type":"sampled","name":N,"unit":U,"startValue":0,"endValue":SUM,
 *                 "samples":[[frame,...],...],"weights":[W,...]}],...}
 *
 * A sample names its frames by number, root first. Names bear the suffix of their kind, for there
 * is no other place for it. One path is in memory at a time.
 */
#include "render/json.h"
#include "render/render.h"
#include "render/source.h"
#include "render/tuples.h"

#include "base/cleanup.h"
#include "base/map64.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROOT	      0u
#define DEFAULT_TITLE "fgcollect"
#define HEAD                                                                                       \
	"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","                     \
	"\"exporter\":\"fgcollect\",\"shared\":{\"frames\":["

struct speedscope_writer {
	const struct profile *profile;
	struct json_out out;
	struct map64 texts;   /* address -> number, from 1 */
	struct tuples frames; /* name, file, kind, line */
	uint32_t *frame_of;   /* node -> frame */
	uint32_t *path;	      /* frames of one sample, leaf first */
	size_t path_size;
};

static int number_of_text(struct speedscope_writer *writer, const char *text, uint32_t *ret)
{
	const uint64_t key = (uint64_t)(uintptr_t)text;
	uintptr_t number = text ? (uintptr_t)map64_find(&writer->texts, key) : 0;

	if (text && !number) {
		number = writer->texts.count + 1;
		if (map64_put(&writer->texts, key, (void *)number) < 0)
			return -ENOMEM;
	}
	*ret = (uint32_t)number;
	return 0;
}

static void write_frame(struct speedscope_writer *writer, const struct profile_node *node)
{
	struct json_out *const out = &writer->out;
	struct bytes text = {0};

	bytes_add(&text, node->name, strlen(node->name));
	bytes_add(&text, frame_kind_suffix((enum frame_kind)node->kind),
		  strlen(frame_kind_suffix((enum frame_kind)node->kind)));
	fputs("{\"name\":", out->stream);
	json_out_text(out, bytes_text(&text));
	if (node->file || node->module) {
		text.len = 0;
		if (node->file)
			source_path(&text, node);
		fputs(",\"file\":", out->stream);
		json_out_text(out, node->file ? bytes_text(&text) : node->module);
	}
	if (node->line)
		fprintf(out->stream, ",\"line\":%u", (unsigned)node->line);
	fputc('}', out->stream);
	out->failed |= text.failed;
	bytes_fini(&text);
}

static int write_frames(struct speedscope_writer *writer)
{
	/* The root is for samples without frames, which need one to be shown. */
	static const struct profile_node no_frames = {.name = "[no frames]", .kind = FRAME_LABEL};

	for (uint32_t id = 0; id < writer->profile->count; id++) {
		const struct profile_node *const node =
			id == ROOT ? &no_frames : &writer->profile->nodes[id];
		struct tuple tuple = {{[2] = node->kind, [3] = node->line}};
		const uint32_t before = writer->frames.count;
		uint32_t number;

		if (number_of_text(writer, node->name, &tuple.v[0]) < 0 ||
		    number_of_text(writer, node->file ? node->file : node->module, &tuple.v[1]) < 0)
			return -ENOMEM;
		number = tuples_add(&writer->frames, tuple);
		if (number == TUPLES_NONE)
			return -ENOMEM;
		if (number == before && number > 0)
			fputc(',', writer->out.stream);
		if (number == before)
			write_frame(writer, node);
		writer->frame_of[id] = number;
	}
	return 0;
}

static int grow_path(struct speedscope_writer *writer)
{
	const size_t size = writer->path_size ? writer->path_size * 2 : 256;
	uint32_t *path = realloc(writer->path, size * sizeof(*path));

	if (!path)
		return -ENOMEM;
	writer->path = path;
	writer->path_size = size;
	return 0;
}

static int write_stack(struct speedscope_writer *writer, uint32_t id)
{
	size_t n = 0;

	do {
		if (n == writer->path_size && grow_path(writer) < 0)
			return -ENOMEM;
		writer->path[n++] = writer->frame_of[id];
		id = writer->profile->nodes[id].parent;
	} while (id != ROOT);
	fputc('[', writer->out.stream);
	for (; n > 0; n--)
		fprintf(writer->out.stream, n > 1 ? "%" PRIu32 "," : "%" PRIu32,
			writer->path[n - 1]);
	fputc(']', writer->out.stream);
	return 0;
}

static int write_stacks(struct speedscope_writer *writer)
{
	const struct profile *const profile = writer->profile;
	bool is_first = true;

	for (uint32_t id = 0; id < profile->count; id++) {
		if (profile->nodes[id].self == 0)
			continue;
		if (!is_first)
			fputc(',', writer->out.stream);
		is_first = false;
		if (write_stack(writer, id) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void write_weights(struct speedscope_writer *writer, uint64_t period)
{
	const struct profile *const profile = writer->profile;
	const char *separator = "";

	for (uint32_t id = 0; id < profile->count; id++) {
		if (profile->nodes[id].self == 0)
			continue;
		fprintf(writer->out.stream, "%s%" PRIu64, separator,
			profile->nodes[id].self * period);
		separator = ",";
	}
}

static int write_profile(struct speedscope_writer *writer, const struct render_options *options)
{
	const uint64_t known = render_period_ns(options);
	const uint64_t period = known ? known : 1;
	FILE *const stream = writer->out.stream;
	int rc;

	fputs(HEAD, stream);
	rc = write_frames(writer);
	if (rc < 0)
		return rc;
	fputs("]},\"profiles\":[{\"type\":\"sampled\",\"name\":", stream);
	json_out_text(&writer->out, options && options->title ? options->title : DEFAULT_TITLE);
	fprintf(stream, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[",
		known ? "nanoseconds" : "none", writer->profile->nodes[ROOT].total * period);
	rc = write_stacks(writer);
	if (rc < 0)
		return rc;
	fputs("],\"weights\":[", stream);
	write_weights(writer, period);
	fputs("]}]}\n", stream);
	return 0;
}

static void speedscope_writer_fini(struct speedscope_writer *writer)
{
	map64_fini(&writer->texts);
	tuples_fini(&writer->frames);
	free(writer->frame_of);
	free(writer->path);
}

int render_speedscope(const struct profile *profile, const struct render_options *options,
		      FILE *stream)
{
	_cleanup_(speedscope_writer_fini) struct speedscope_writer writer = {
		.profile = profile,
		.out = {.stream = stream},
	};
	int err, rc;

	writer.frame_of = malloc(profile->count * sizeof(*writer.frame_of));
	if (!writer.frame_of)
		return -ENOMEM;
	errno = 0;
	rc = write_profile(&writer, options);
	err = json_out_fini(&writer.out);
	return rc < 0 ? rc : err;
}
