// SPDX-License-Identifier: Apache-2.0
/*
 * The Firefox Profiler's processed profile, of its version 60, which later versions read too:
 *
 *   {"meta":{...},"libs":[lib,...],"pages":[],
 *    "shared":{"stackTable":T,"frameTable":T,"funcTable":T,"resourceTable":T,
 *              "nativeSymbols":T,"sources":T,"stringArray":[text,...]},
 *    "threads":[{...,"samples":{"stack":[...],"time":[...],"weight":[...],...},"markers":T}]}
 *
 * A table T is an object of columns of one length. A stack is a frame and the number of the stack
 * below it, which is a node of our tree with its parent. The root stands for samples without
 * frames.
 *
 * A lib is a module whose build ID is known: as codeId, and with its first 16 bytes as a GUID in
 * breakpadId, from which symbol servers make their paths. Modules without a build ID are resources
 * alone.
 *
 * Kinds are categories. The threads are the timeline's, and one more has the samples without a
 * thread. The times of these are not known, so a stack there lasts as long as its samples together:
 * the track shows the tree's stacks side by side.
 *
 * With several kinds of samples a thread has a track for each kind, whose name ends in the kind's,
 * and the nodes of one kind's tree follow those of the other. The main track of a process is of the
 * first kind, because there can be one alone.
 *
 * One file, because all tables number what the others name.
 */
#include "base/array.h"
#include "container/place_name.h"
#include "encode/json.h"
#include "render/by_thread.h"
#include "render/kinds.h"
#include "render/render.h"
#include "render/source.h"
#include "render/tuples.h"

#include "base/cleanup.h"
#include "base/intern.h"
#include "base/map64.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROOT		  0u
#define NOTHING		  0u /* no text, source or resource; the others are numbered from 1 */
#define PROCESSED_VERSION 60
#define GECKO_VERSION	  33
#define NS_PER_MS	  1e6
#define MS_PER_SEC	  1e3
#define BREAKPAD_DIGITS	  33 /* of a GUID and the age */
#define DEFAULT_TITLE	  "fgcollect"

struct firefox_writer {
	struct profile_part parts[PROFILE_MAX_KINDS];
	uint32_t first_stacks[PROFILE_MAX_KINDS]; /* the stack of a kind's node 0 */
	size_t n;				  /* of both */
	uint32_t n_stacks;
	const struct render_options *options; /* never NULL */
	struct json_out out;
	struct map64 texts;   /* address -> number */
	const char **text_of; /* number - 1 -> text, which kept owns */
	uint32_t text_size;
	struct intern kept;	 /* each text once, whichever kind names it */
	struct tuples sources;	 /* text */
	struct tuples resources; /* text of a module; one resource for each build of a module */
	struct tuples funcs;	 /* name, source, resource */
	struct tuples frames;	 /* func, line, category, is inlined */
	uint32_t *frame_of;	 /* stack -> frame */
	uint32_t tracks;	 /* written so far */
};

static const char *const colors[KINDS] = {
	[KIND_LABEL] = "grey",	  [KIND_INTERPRETED] = "lightblue",
	[KIND_C1] = "blue",	  [KIND_JIT] = "green",
	[KIND_INLINED] = "green", [KIND_STUB] = "purple",
	[KIND_CPP] = "yellow",	  [KIND_NATIVE] = "red",
	[KIND_KERNEL] = "orange", [KIND_UNKNOWN] = "darkgrey",
	[KIND_JAVA] = "green",	  [KIND_WAIT] = "magenta",
	[KIND_CLASS] = "purple",
};

/* text is of kept. */
static int number_text(struct firefox_writer *writer, const char *text, uint32_t *ret)
{
	const uint64_t key = (uint64_t)(uintptr_t)text;
	const uintptr_t known = (uintptr_t)map64_find(&writer->texts, key);
	const uint32_t number = (uint32_t)writer->texts.count + 1;

	*ret = (uint32_t)known;
	if (known)
		return 0;
	if (ARRAY_RESERVE(writer->text_of, writer->text_size, number) < 0)
		return -ENOMEM;
	writer->text_of[number - 1] = text;
	*ret = number;
	return map64_put(&writer->texts, key, (void *)(uintptr_t)number);
}

/* Numbers a text of kept in its own table, from 1. NULL gets NOTHING. */
static int number_in(struct firefox_writer *writer, struct tuples *table, const char *text,
		     uint32_t *ret)
{
	struct tuple tuple = {0};
	uint32_t number;

	*ret = NOTHING;
	if (!text)
		return 0;
	if (number_text(writer, text, &tuple.v[0]) < 0)
		return -ENOMEM;
	number = tuples_add(table, tuple);
	*ret = number + 1;
	return number == TUPLES_NONE ? -ENOMEM : 0;
}

static int number_source(struct firefox_writer *writer, const struct profile_node *node,
			 uint32_t *ret)
{
	_cleanup_(bytes_fini) struct bytes path = {0};
	const char *kept;

	*ret = NOTHING;
	if (!node->file)
		return 0;
	source_path(&path, node);
	kept = path.failed ? NULL : intern_add(&writer->kept, path.data, path.len);
	return kept ? number_in(writer, &writer->sources, kept, ret) : -ENOMEM;
}

/* Of the form that profile_build_id reads. */
static int number_module(struct firefox_writer *writer, const char *module, uint32_t *ret)
{
	const char *const build_id = profile_build_id(module);
	const char *kept = NULL;

	if (module)
		kept = intern_add(&writer->kept, module,
				  strlen(module) + 1 + (build_id ? strlen(build_id) : 0));
	return module && !kept ? -ENOMEM : number_in(writer, &writer->resources, kept, ret);
}

static int number_frame(struct firefox_writer *writer, const struct profile_node *node,
			uint32_t *ret)
{
	struct tuple func = {0};
	struct tuple frame = {{
		[1] = node->line,
		[2] = kind_of((enum frame_kind)node->kind, node->name),
		[3] = frame_kind_is_inlined((enum frame_kind)node->kind),
	}};

	const char *const name = intern_add_str(&writer->kept, node->name);

	if (!name || number_text(writer, name, &func.v[0]) < 0 ||
	    number_source(writer, node, &func.v[1]) < 0 ||
	    number_module(writer, node->module, &func.v[2]) < 0)
		return -ENOMEM;
	frame.v[0] = tuples_add(&writer->funcs, func);
	if (frame.v[0] == TUPLES_NONE)
		return -ENOMEM;
	*ret = tuples_add(&writer->frames, frame);
	return *ret == TUPLES_NONE ? -ENOMEM : 0;
}

static int number_frames(struct firefox_writer *writer)
{
	static const struct profile_node no_frames = {.name = "[no frames]", .kind = FRAME_LABEL};

	for (size_t i = 0; i < writer->n; i++) {
		const struct profile *const profile = writer->parts[i].profile;
		uint32_t *const frame_of = writer->frame_of + writer->first_stacks[i];

		for (uint32_t id = 0; id < profile->count; id++)
			if (number_frame(writer, id == ROOT ? &no_frames : &profile->nodes[id],
					 &frame_of[id]) < 0)
				return -ENOMEM;
	}
	return 0;
}

/*
 * Writes "name":[...] with a number of each item. If instead is not NULL, 1 is taken off each
 * number, and instead is written for NOTHING.
 */
static void write_column(struct firefox_writer *writer, const char *name,
			 const struct tuples *table, int part, const char *instead)
{
	FILE *const stream = writer->out.stream;

	fprintf(stream, "\"%s\":[", name);
	for (uint32_t i = 0; i < table->count; i++) {
		const uint32_t value = table->items[i].v[part];

		if (i > 0)
			fputc(',', stream);
		if (instead && value == NOTHING)
			fputs(instead, stream);
		else
			fprintf(stream, "%" PRIu32, instead ? value - 1 : value);
	}
	fputs("],", stream);
}

/* Writes "name":[...] with value as each of length items. */
static void write_same(struct firefox_writer *writer, const char *name, uint32_t length,
		       const char *value)
{
	FILE *const stream = writer->out.stream;

	fprintf(stream, "\"%s\":[", name);
	for (uint32_t i = 0; i < length; i++)
		fprintf(stream, i ? ",%s" : "%s", value);
	fputs("],", stream);
}

/* Writes ,"key":"text". */
static void write_text_member(struct firefox_writer *writer, const char *key, const char *text)
{
	fprintf(writer->out.stream, ",\"%s\":", key);
	json_out_text(&writer->out, text);
}

static void write_length(struct firefox_writer *writer, uint32_t length, const char *end)
{
	fprintf(writer->out.stream, "\"length\":%" PRIu32 "%s", length, end);
}

static void write_lines(struct firefox_writer *writer)
{
	FILE *const stream = writer->out.stream;

	fputs("\"line\":[", stream);
	for (uint32_t i = 0; i < writer->frames.count; i++) {
		const uint32_t line = writer->frames.items[i].v[1];

		fputs(i ? "," : "", stream);
		if (line)
			fprintf(stream, "%" PRIu32, line);
		else
			fputs("null", stream);
	}
	fputs("],", stream);
}

static void write_frame_table(struct firefox_writer *writer)
{
	const uint32_t n = writer->frames.count;

	fputs("\"frameTable\":{", writer->out.stream);
	write_same(writer, "address", n, "-1");
	write_column(writer, "inlineDepth", &writer->frames, 3, NULL);
	write_column(writer, "category", &writer->frames, 2, NULL);
	write_same(writer, "subcategory", n, "0");
	write_column(writer, "func", &writer->frames, 0, NULL);
	write_same(writer, "nativeSymbol", n, "null");
	write_same(writer, "innerWindowID", n, "0");
	write_lines(writer);
	write_same(writer, "column", n, "null");
	write_length(writer, n, "},");
}

static void write_func_table(struct firefox_writer *writer)
{
	const uint32_t n = writer->funcs.count;

	fputs("\"funcTable\":{", writer->out.stream);
	write_same(writer, "isJS", n, "false");
	write_same(writer, "relevantForJS", n, "false");
	write_column(writer, "name", &writer->funcs, 0, "0");
	write_column(writer, "resource", &writer->funcs, 2, "-1");
	write_column(writer, "source", &writer->funcs, 1, "null");
	write_same(writer, "lineNumber", n, "null");
	write_same(writer, "columnNumber", n, "null");
	write_length(writer, n, "},");
}

/*
 * Writes the GUID of a build ID in capitals. The bytes of the GUID's first three numbers are
 * reversed. The age 0 follows.
 */
static void guid_of(const char *build_id, char ret[BREAKPAD_DIGITS + 1])
{
	static const unsigned char order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	const size_t len = strlen(build_id);

	for (size_t i = 0; i < 2 * sizeof(order); i++) {
		const size_t from = 2u * order[i / 2] + i % 2;

		ret[i] = from < len ? (char)toupper((unsigned char)build_id[from]) : '0';
	}
	strcpy(ret + 2 * sizeof(order), "0");
}

/* The build ID of a resource; NULL: the resource is not a lib. */
static const char *build_id_of(const struct firefox_writer *writer, uint32_t resource)
{
	return profile_build_id(writer->text_of[writer->resources.items[resource].v[0] - 1]);
}

static void write_libs(struct firefox_writer *writer)
{
	FILE *const stream = writer->out.stream;
	const char *separator = "";

	for (uint32_t i = 0; i < writer->resources.count; i++) {
		const char *const module = writer->text_of[writer->resources.items[i].v[0] - 1];
		const char *const build_id = build_id_of(writer, i);
		char guid[BREAKPAD_DIGITS + 1];

		if (!build_id)
			continue;
		guid_of(build_id, guid);
		fprintf(stream, "%s{\"arch\":\"\"", separator);
		write_text_member(writer, "name", module);
		write_text_member(writer, "path", module);
		write_text_member(writer, "debugName", module);
		write_text_member(writer, "debugPath", module);
		write_text_member(writer, "breakpadId", guid);
		write_text_member(writer, "codeId", build_id);
		fputs("}", stream);
		separator = ",";
	}
}

/* Libs are numbered in the order in which write_libs writes them. */
static void write_lib_column(struct firefox_writer *writer)
{
	FILE *const stream = writer->out.stream;
	uint32_t libs = 0;

	fputs("\"lib\":[", stream);
	for (uint32_t i = 0; i < writer->resources.count; i++) {
		fputs(i ? "," : "", stream);
		if (build_id_of(writer, i))
			fprintf(stream, "%" PRIu32, libs++);
		else
			fputs("null", stream);
	}
	fputs("],", stream);
}

static void write_resources_and_sources(struct firefox_writer *writer)
{
	FILE *const stream = writer->out.stream;

	fputs("\"resourceTable\":{", stream);
	write_lib_column(writer);
	write_column(writer, "name", &writer->resources, 0, "0");
	write_same(writer, "host", writer->resources.count, "null");
	write_same(writer, "type", writer->resources.count, "1"); /* a library */
	write_length(writer, writer->resources.count, "},");
	fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
	      "\"length\":0},\"sources\":{",
	      stream);
	write_same(writer, "uuid", writer->sources.count, "null");
	write_column(writer, "filename", &writer->sources, 0, "0");
	write_length(writer, writer->sources.count, "},");
}

/* Stacks of a kind; a stack without one below it has null for that. */
static void write_prefixes(struct firefox_writer *writer, size_t i)
{
	const struct profile *const profile = writer->parts[i].profile;
	FILE *const stream = writer->out.stream;

	for (uint32_t id = 0; id < profile->count; id++) {
		fputs(i > 0 || id > 0 ? "," : "", stream);
		if (id == ROOT || profile->nodes[id].parent == ROOT)
			fputs("null", stream);
		else
			fprintf(stream, "%" PRIu32,
				writer->first_stacks[i] + profile->nodes[id].parent);
	}
}

static void write_stack_table(struct firefox_writer *writer)
{
	FILE *const stream = writer->out.stream;

	fputs("\"stackTable\":{\"frame\":[", stream);
	for (uint32_t stack = 0; stack < writer->n_stacks; stack++)
		fprintf(stream, stack ? ",%" PRIu32 : "%" PRIu32, writer->frame_of[stack]);
	fputs("],\"prefix\":[", stream);
	for (size_t i = 0; i < writer->n; i++)
		write_prefixes(writer, i);
	fputs("],", stream);
	write_length(writer, writer->n_stacks, "},");
}

static void write_shared(struct firefox_writer *writer)
{
	FILE *const stream = writer->out.stream;

	fputs("\"shared\":{", stream);
	write_stack_table(writer);
	write_frame_table(writer);
	write_func_table(writer);
	write_resources_and_sources(writer);
	fputs("\"stringArray\":[", stream);
	for (size_t i = 0; i < writer->texts.count; i++) {
		fputs(i ? "," : "", stream);
		json_out_text(&writer->out, writer->text_of[i]);
	}
	fputs("]},", stream);
}

/*
 * Milliseconds for which a weight of 1 stands. Bytes and things last no time: all of them together
 * stand for the time of the recording, so that their tracks are as long as the others.
 */
static double weight_ms(const struct profile_part *part)
{
	const uint64_t period_ns = render_period_ns(part), all = part->profile->quality.samples;
	const uint64_t span_ns = part->info ? part->info->duration_ns : 0;

	if (period_ns || profile_kind_is_same(part->kind, &profile_kind_cpu))
		return period_ns ? (double)period_ns / NS_PER_MS : 1.0;
	return (span_ns ? (double)span_ns / NS_PER_MS : MS_PER_SEC) / (all ? (double)all : 1.0);
}

/* How long a sample of the first kind lasts, by which tracks are drawn. */
static double interval_ms(const struct firefox_writer *writer)
{
	const struct profile_part *const first = &writer->parts[0];

	if (profile_kind_is_same(first->kind, &profile_kind_cpu))
		return weight_ms(first);
	if (first->info && first->info->hz)
		return MS_PER_SEC / first->info->hz;
	return first->timeline ? (double)first->timeline->bucket_ns / NS_PER_MS : 1.0;
}

static void write_meta(struct firefox_writer *writer)
{
	const struct profile_info *const info = writer->options->info;
	FILE *const stream = writer->out.stream;

	fprintf(stream, "{\"meta\":{\"interval\":%.6f,\"startTime\":%.3f,", interval_ms(writer),
		info ? (double)info->start_unix_ns / NS_PER_MS : 0.0);
	fprintf(stream, "\"processType\":0,\"stackwalk\":1,\"debug\":0,\"version\":%d,",
		GECKO_VERSION);
	fprintf(stream, "\"preprocessedProfileVersion\":%d,\"symbolicated\":true,",
		PROCESSED_VERSION);
	fputs("\"markerSchema\":[],\"importedFrom\":\"fgcollect\",\"product\":", stream);
	json_out_text(&writer->out,
		      writer->options->title ? writer->options->title : DEFAULT_TITLE);
	fputs(",\"categories\":[", stream);
	for (int kind = 0; kind < KINDS; kind++) {
		fprintf(stream, "%s{\"name\":", kind ? "," : "");
		json_out_text(&writer->out, kind_title((enum kind)kind));
		fprintf(stream, ",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
			colors[kind] ? colors[kind] : "green");
	}
	fputs("]},\"libs\":[", stream);
	write_libs(writer);
	fputs("],\"pages\":[],", stream);
}

/* The samples of one track. */
struct track {
	const struct profile_part *part;
	uint32_t first_stack;
	const struct timeline_entry *entries;
	uint32_t count;
	const uint64_t *rest; /* samples by node, used instead of entries; NULL: entries are used */
	const char *name;
	const struct timeline_process *process; /* NULL: none */
	pid_t tid;
	bool is_main;
};

/* Reads the next sample of a track: its next entry, or its next node from *pos on. */
static bool next_sample(const struct track *track, uint32_t *pos, struct timeline_entry *ret,
			uint64_t *ret_weight)
{
	const uint32_t count = track->part->profile->count;

	if (!track->rest) {
		if (*pos == track->count)
			return false;
		*ret = track->entries[(*pos)++];
		*ret_weight = ret->weight;
		return true;
	}
	while (*pos < count && track->rest[*pos] == 0)
		(*pos)++;
	if (*pos == count)
		return false;
	ret->node = *pos;
	*ret_weight = track->rest[(*pos)++];
	return true;
}

enum sample_column {
	SAMPLE_STACK,
	SAMPLE_TIME,
	SAMPLE_WEIGHT,
};

/* Returns the number of samples. */
static uint32_t write_samples(struct firefox_writer *writer, const struct track *track,
			      enum sample_column column)
{
	const struct timeline *const timeline = track->part->timeline;
	FILE *const stream = writer->out.stream;
	const bool is_time = profile_kind_is_time(track->part->kind);
	struct timeline_entry entry = {0};
	uint64_t weight, before = 0;
	uint32_t n = 0;

	for (uint32_t pos = 0; next_sample(track, &pos, &entry, &weight); n++) {
		fputs(n ? "," : "", stream);
		if (column == SAMPLE_STACK)
			fprintf(stream, "%" PRIu32, track->first_stack + entry.node);
		else if (column == SAMPLE_WEIGHT && is_time)
			fprintf(stream, "%.3f", (double)weight / 1000);
		else if (column == SAMPLE_WEIGHT)
			fprintf(stream, "%" PRIu64, weight);
		else if (track->rest)
			fprintf(stream, "%.3f", (double)before * weight_ms(track->part));
		else
			fprintf(stream, "%.3f",
				(double)(entry.bucket * timeline->bucket_ns) / NS_PER_MS);
		before += weight;
	}
	return n;
}

/* What weights of a kind are, in the format's words. */
static const char *weight_type(const struct profile_kind *kind)
{
	if (profile_kind_is_time(kind))
		return "tracing-ms";
	return profile_kind_is_bytes(kind) ? "bytes" : "samples";
}

static void write_name(struct firefox_writer *writer, const struct track *track)
{
	_cleanup_(bytes_fini) struct bytes name = {0};

	bytes_add(&name, track->name, strlen(track->name));
	if (writer->n > 1) {
		bytes_add(&name, " (", 2);
		bytes_add(&name, track->part->kind->name, strlen(track->part->kind->name));
		bytes_add_char(&name, ')');
	}
	writer->out.failed |= name.failed;
	json_out_text(&writer->out, bytes_text(&name));
}

static void write_track(struct firefox_writer *writer, const struct track *track)
{
	FILE *const stream = writer->out.stream;
	const pid_t pid = track->process ? track->process->pid : 0;
	char called[PLACE_NAME_BYTES];
	uint32_t n;

	fputs(writer->tracks++ ? ",{" : "{", stream);
	fputs("\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
	      "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"name\":",
	      stream);
	write_name(writer, track);
	if (track->process) {
		timeline_process_write_called(track->process, called, sizeof(called));
		write_text_member(writer, "processName", called);
	}
	fprintf(stream, ",\"isMainThread\":%s,\"pid\":\"%d\",\"tid\":%d,",
		track->is_main ? "true" : "false", (int)pid, (int)track->tid);
	fputs("\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],"
	      "\"category\":[],\"length\":0},\"samples\":{\"weightType\":",
	      stream);
	fprintf(stream, "\"%s\",\"stack\":[", weight_type(track->part->kind));
	write_samples(writer, track, SAMPLE_STACK);
	fputs("],\"time\":[", stream);
	write_samples(writer, track, SAMPLE_TIME);
	fputs("],\"weight\":[", stream);
	n = write_samples(writer, track, SAMPLE_WEIGHT);
	fputs("],", stream);
	write_length(writer, n, "}}");
}

static void write_threads(struct firefox_writer *writer, struct track track,
			  const struct by_thread *by_thread)
{
	const struct timeline *const timeline = track.part->timeline;

	for (uint32_t i = 0; i < by_thread->threads; i++) {
		const struct timeline_thread *const thread = &timeline->threads[i];

		track.entries = by_thread->entries + by_thread->first[i];
		track.count = by_thread->first[i + 1] - by_thread->first[i];
		track.name = thread->name;
		track.process = &timeline->processes[thread->process];
		track.tid = thread->tid;
		track.is_main =
			track.part == &writer->parts[0] && track.process->pid == thread->tid;
		if (track.count > 0)
			write_track(writer, &track);
	}
}

/* The tracks of a kind. */
static int write_kind(struct firefox_writer *writer, size_t i)
{
	_cleanup_(by_thread_fini) struct by_thread by_thread = {0};
	const uint32_t before = writer->tracks;
	struct track track = {.part = &writer->parts[i], .first_stack = writer->first_stacks[i]};

	if (by_thread_init(&by_thread, track.part->profile, track.part->timeline, BY_THREAD_TIME) <
	    0)
		return -ENOMEM;
	write_threads(writer, track, &by_thread);
	if (by_thread.has_rest || writer->tracks == before) {
		track.rest = by_thread.rest;
		track.name = writer->tracks > before ? "samples without a time" : "all";
		track.is_main = i == 0;
		write_track(writer, &track);
	}
	return 0;
}

static void firefox_writer_fini(struct firefox_writer *writer)
{
	map64_fini(&writer->texts);
	free(writer->text_of);
	intern_fini(&writer->kept);
	tuples_fini(&writer->sources);
	tuples_fini(&writer->resources);
	tuples_fini(&writer->funcs);
	tuples_fini(&writer->frames);
	free(writer->frame_of);
}

static int number_all(struct firefox_writer *writer)
{
	for (size_t i = 0; i < writer->n; i++) {
		writer->first_stacks[i] = writer->n_stacks;
		if (__builtin_add_overflow(writer->n_stacks, writer->parts[i].profile->count,
					   &writer->n_stacks))
			return -EOVERFLOW;
	}
	writer->frame_of = malloc(writer->n_stacks * sizeof(*writer->frame_of));
	return writer->frame_of ? number_frames(writer) : -ENOMEM;
}

int render_firefox(const struct profile *profile, const struct render_options *options,
		   FILE *stream)
{
	static const struct render_options defaults = {0};
	_cleanup_(firefox_writer_fini) struct firefox_writer writer = {
		.options = options ? options : &defaults,
		.out = {.stream = stream},
	};
	int err, rc;

	writer.n = render_parts(profile, options, writer.parts);
	rc = number_all(&writer);
	if (rc < 0)
		return rc;
	errno = 0;
	write_meta(&writer);
	write_shared(&writer);
	fputs("\"threads\":[", stream);
	for (size_t i = 0; rc == 0 && i < writer.n; i++)
		rc = write_kind(&writer, i);
	fputs("]}\n", stream);
	err = json_out_fini(&writer.out);
	return rc < 0 ? rc : err;
}
