// SPDX-License-Identifier: Apache-2.0
/*
 * speedscope's own file format:
 *
 *   {"$schema":S,"shared":{"frames":[{"name":N,"file":F,"line":L},...]},
 *    "profiles":[{"type":"sampled","name":N,"unit":U,"startValue":0,"endValue":SUM,
 *                 "samples":[[frame,...],...],"weights":[W,...]}],...}
 *
 * A sample lists its frames by number, root first. Names have the suffix of their kind, because the
 * format has no other place for a kind. One path is in memory at a time.
 *
 * Each thread of a timeline is a profile with its samples in the order of time; one more profile
 * has the samples without a thread. With several kinds of samples these profiles are there for each
 * kind, one kind after the other, and their names begin with the kind's. A sample repeats its whole
 * stack, so if there are more than MAX_TIMED samples, the order of time is given up, and each stack
 * of a thread is written once.
 */
#include "base/array.h"
#include "container/place_name.h"
#include "encode/json.h"
#include "render/by_thread.h"
#include "render/render.h"
#include "render/source.h"
#include "render/tuples.h"

#include "base/cleanup.h"
#include "base/intern.h"
#include "base/map64.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROOT	      0u
#define DEFAULT_TITLE "fgcollect"
#define MAX_TIMED     200000u /* some 50 MB; browsers read no text of more than 512 MB */
#define HEAD                                                                                       \
	"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","                     \
	"\"exporter\":\"fgcollect\",\"shared\":{\"frames\":["

struct speedscope_writer {
	struct profile_part parts[PROFILE_MAX_KINDS];
	uint32_t *frames_of[PROFILE_MAX_KINDS]; /* node -> frame */
	size_t n;				/* of both */
	struct json_out out;
	struct intern kept; /* each text once, whichever kind names it */
	struct map64 texts; /* address of a text -> its number, from 1 */
	uint32_t text_count;
	struct tuples frames; /* name, file, kind, line */
	uint32_t *path;	      /* frames of one sample, leaf first */
	size_t path_size;
	uint32_t profiles; /* written so far */
	/* of the kind that is written: */
	const struct profile *profile;
	const uint32_t *frame_of;
	const char *prefix; /* of names of profiles */
	uint64_t period;
	const char *unit;
};

/* 0 is the number of NULL. Texts of two kinds are one if they say the same. */
static int number_of_text(struct speedscope_writer *writer, const char *text, uint32_t *ret)
{
	uintptr_t number =
		text ? (uintptr_t)map64_find(&writer->texts, (uint64_t)(uintptr_t)text) : 0;
	const char *kept;

	*ret = (uint32_t)number;
	if (!text || number)
		return 0;
	kept = intern_add_str(&writer->kept, text);
	if (!kept)
		return -ENOMEM;
	number = (uintptr_t)map64_find(&writer->texts, (uint64_t)(uintptr_t)kept);
	if (!number)
		number = ++writer->text_count;
	*ret = (uint32_t)number;
	if (map64_put(&writer->texts, (uint64_t)(uintptr_t)kept, (void *)number) < 0)
		return -ENOMEM;
	return map64_put(&writer->texts, (uint64_t)(uintptr_t)text, (void *)number);
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

/* Writes the frames that no kind before had. */
static int write_frames(struct speedscope_writer *writer, const struct profile *profile,
			uint32_t *frame_of)
{
	/* The root's frame is for samples without frames, which are only shown with a frame. */
	static const struct profile_node no_frames = {.name = "[no frames]", .kind = FRAME_LABEL};

	for (uint32_t id = 0; id < profile->count; id++) {
		const struct profile_node *const node =
			id == ROOT ? &no_frames : &profile->nodes[id];
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
		frame_of[id] = number;
	}
	return 0;
}

static int write_stack(struct speedscope_writer *writer, uint32_t id)
{
	size_t n = 0;

	do {
		if (ARRAY_RESERVE(writer->path, writer->path_size, n + 1) < 0)
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

/* The product, limited to 64 bits. */
static uint64_t times(uint64_t count, uint64_t period)
{
	uint64_t product;

	return __builtin_mul_overflow(count, period, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t sum, uint64_t count)
{
	return sum <= UINT64_MAX - count ? sum + count : UINT64_MAX;
}

static void write_head(struct speedscope_writer *writer, const char *name, uint64_t total)
{
	FILE *const stream = writer->out.stream;

	_cleanup_(bytes_fini) struct bytes text = {0};

	bytes_add(&text, writer->prefix, strlen(writer->prefix));
	bytes_add(&text, name, strlen(name));
	writer->out.failed |= text.failed;
	fputs(writer->profiles++ ? ",{" : "{", stream);
	fputs("\"type\":\"sampled\",\"name\":", stream);
	json_out_text(&writer->out, bytes_text(&text));
	fprintf(stream, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[",
		writer->unit, times(total, writer->period));
}

static int write_thread(struct speedscope_writer *writer, const char *name,
			const struct timeline_entry *entries, uint32_t count)
{
	FILE *const stream = writer->out.stream;
	uint64_t total = 0;

	for (uint32_t i = 0; i < count; i++)
		total = plus(total, entries[i].weight);
	write_head(writer, name, total);
	for (uint32_t i = 0; i < count; i++) {
		fputs(i ? "," : "", stream);
		if (write_stack(writer, entries[i].node) < 0)
			return -ENOMEM;
	}
	fputs("],\"weights\":[", stream);
	for (uint32_t i = 0; i < count; i++)
		fprintf(stream, i ? ",%" PRIu64 : "%" PRIu64,
			times(entries[i].weight, writer->period));
	fputs("]}", stream);
	return 0;
}

static int write_rest(struct speedscope_writer *writer, const char *name, const uint64_t *rest)
{
	const uint32_t count = writer->profile->count;
	FILE *const stream = writer->out.stream;
	const char *separator = "";
	uint64_t total = 0;

	for (uint32_t id = 0; id < count; id++)
		total = plus(total, rest[id]);
	write_head(writer, name, total);
	for (uint32_t id = 0; id < count; id++) {
		if (rest[id] == 0)
			continue;
		fputs(separator, stream);
		separator = ",";
		if (write_stack(writer, id) < 0)
			return -ENOMEM;
	}
	fputs("],\"weights\":[", stream);
	separator = "";
	for (uint32_t id = 0; id < count; id++) {
		if (rest[id] == 0)
			continue;
		fprintf(stream, "%s%" PRIu64, separator, times(rest[id], writer->period));
		separator = ",";
	}
	fputs("]}", stream);
	return 0;
}

/* Returns "process: thread (TID)", of what is known. The caller frees the text. */
static char *name_thread(const struct timeline *timeline, const struct timeline_thread *thread)
{
	const struct timeline_process *const process = &timeline->processes[thread->process];
	char *name, called[PLACE_NAME_BYTES] = "", tid[16] = "";

	if (process->pid)
		timeline_process_write_called(process, called, sizeof(called));
	if (thread->tid)
		snprintf(tid, sizeof(tid), " (%d)", (int)thread->tid);
	return asprintf(&name, "%s%s%s%s", called, called[0] ? ": " : "",
			thread->name[0] ? thread->name : "thread not known", tid) < 0
		       ? NULL
		       : name;
}

static int write_threads(struct speedscope_writer *writer, const struct timeline *timeline,
			 const struct by_thread *by_thread)
{
	for (uint32_t i = 0; i < by_thread->threads; i++) {
		const uint32_t first = by_thread->first[i];
		const uint32_t count = by_thread->first[i + 1] - first;
		_cleanup_free_ char *name = NULL;
		int rc;

		if (count == 0)
			continue;
		/*
		 * NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the threads are timeline's
		 */
		name = name_thread(timeline, &timeline->threads[i]);
		rc = name ? write_thread(writer, name, by_thread->entries + first, count) : -ENOMEM;
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The profiles of a kind. */
static int write_profiles(struct speedscope_writer *writer, const struct profile_part *part,
			  const char *title)
{
	const struct timeline *const timeline = part->timeline;
	_cleanup_(by_thread_fini) struct by_thread by_thread = {0};
	const bool is_timed = timeline && timeline->n_entries <= MAX_TIMED / writer->n;
	int rc = by_thread_init(&by_thread, writer->profile, timeline,
				is_timed ? BY_THREAD_TIME : BY_THREAD_NODE);

	if (rc == 0)
		rc = write_threads(writer, timeline, &by_thread);
	if (rc < 0)
		return rc;
	if (by_thread.first[by_thread.threads] > 0)
		title = "samples without a time";
	else
		by_thread.has_rest = true; /* a file without profiles is not valid */
	return by_thread.has_rest ? write_rest(writer, title, by_thread.rest) : 0;
}

/* Sets what weights of the kind are, in a unit that the format knows. */
static void set_unit(struct speedscope_writer *writer, const struct profile_part *part)
{
	writer->period = 1;
	writer->unit = "none";
	if (profile_kind_is_time(part->kind)) {
		writer->unit = "microseconds";
	} else if (profile_kind_is_bytes(part->kind)) {
		writer->unit = "bytes";
	} else if (render_period_ns(part)) {
		writer->period = render_period_ns(part);
		writer->unit = "nanoseconds";
	}
}

static int write_kind(struct speedscope_writer *writer, size_t i, const char *title)
{
	const struct profile_part *const part = &writer->parts[i];
	_cleanup_free_ char *prefix = NULL;

	if (asprintf(&prefix, "%s%s", writer->n > 1 ? part->kind->name : "",
		     writer->n > 1 ? " | " : "") < 0)
		return -ENOMEM;
	writer->profile = part->profile;
	writer->frame_of = writer->frames_of[i];
	writer->prefix = prefix;
	set_unit(writer, part);
	return write_profiles(writer, part, title);
}

static int write_file(struct speedscope_writer *writer, const struct render_options *options)
{
	const char *const title = options && options->title ? options->title : DEFAULT_TITLE;
	int rc = 0;

	fputs(HEAD, writer->out.stream);
	for (size_t i = 0; rc == 0 && i < writer->n; i++)
		rc = write_frames(writer, writer->parts[i].profile, writer->frames_of[i]);
	fputs("]},\"profiles\":[", writer->out.stream);
	for (size_t i = 0; rc == 0 && i < writer->n; i++)
		rc = write_kind(writer, i, title);
	fputs("]}\n", writer->out.stream);
	return rc;
}

static void speedscope_writer_fini(struct speedscope_writer *writer)
{
	intern_fini(&writer->kept);
	map64_fini(&writer->texts);
	tuples_fini(&writer->frames);
	for (size_t i = 0; i < writer->n; i++)
		free(writer->frames_of[i]);
	free(writer->path);
}

int render_speedscope(const struct profile *profile, const struct render_options *options,
		      FILE *stream)
{
	_cleanup_(speedscope_writer_fini) struct speedscope_writer writer = {
		.out = {.stream = stream},
	};
	int err, rc;

	writer.n = render_parts(profile, options, writer.parts);
	for (size_t i = 0; i < writer.n; i++) {
		writer.frames_of[i] =
			malloc(writer.parts[i].profile->count * sizeof(*writer.frames_of[i]));
		if (!writer.frames_of[i])
			return -ENOMEM;
	}
	errno = 0;
	rc = write_file(&writer, options);
	err = json_out_fini(&writer.out);
	return rc < 0 ? rc : err;
}
