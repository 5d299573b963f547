// SPDX-License-Identifier: Apache-2.0
/*
 * The text of perf script, one sample after the other:
 *
 *   header LF { frame LF [ source LF ] } { other LF } LF    leaf first; see perf_header.h
 *   header frame LF                        a sample without a call chain
 *   header LF                              a record that is no sample, and lines that belong to it
 *   "#" ... LF                             a comment
 *
 *   source = SP SP file ":" line           of the field srcline
 *   other  = SP ...                        of fields that are not stacks: registers, branches
 *
 * A sample weighs its period if it has one, else 1, see perf_events.h. The lowest frame is the
 * comm, with '_' for spaces. Whatever stands before or between samples is ignored and counted.
 *
 * A line with nothing but a name, or a name and a PID, begins a sample only if a frame follows, or
 * if all samples of the file begin so: as soon as one began with more, such lines are none.
 */
#include "import/import_limits.h"
#include "import/inlined.h"
#include "import/name_cache.h"
#include "import/perf_events.h"
#include "import/perf_header.h"
#include "import/perf_names.h"
#include "import/perf_threads.h"
#include "import/readers.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PC_DIGITS	16u
#define MAX_LINE_DIGITS 9u
#define LOST		"PERF_RECORD_LOST"
#define LOST_MAX	UINT64_C(1000000000000000000)
#define SURE_PC_DIGITS	8u /* no header begins with so many hexadecimal digits */

enum realm {
	REALM_FRAME,
	REALM_ROOT,
};

struct perf_reader {
	const struct import_options *options;
	struct import_target *target;
	struct perf_events events;
	struct perf_threads threads;
	struct name_cache names;
	struct arena arena;	    /* names that this reader makes */
	const struct named **stack; /* leaf first */
	size_t depth;
	uint64_t weight;
	uint64_t first_line; /* number of the line at which the sample begins */
	uint64_t number;     /* of the line that is read */
	const struct named *root;
	bool is_in_kernel;	 /* the frame before was a kernel frame */
	struct inlined *inlined; /* NULL: inlined functions are not wanted */
	bool is_in_inlined;	 /* perf marked the frame before as inlined */
	const char *problem;	 /* why the sample cannot be kept, or NULL */
	bool is_open;		 /* the header of a sample was read, and the sample's end was not */
	bool is_other;		 /* the header of another record was read, and its end was not */
	bool is_wanted;
	bool has_only_frame; /* the stack has the frame of the header, which a chain replaces */
	enum perf_header_sort shape;	 /* of the surest header that a sample began with */
	enum perf_header_sort pending;	 /* of the line before, which may have begun a sample */
	uint64_t lost;			 /* samples, as the kernel counted them */
	const struct profile_kind *kind; /* of the event; NULL: no sample was kept yet */
	bool is_kind_wanted;
	char *key;  /* the key of a frame in the cache */
	char *text; /* the name that perf_names_of changes */
	char pc[MAX_PC_DIGITS + 1];
};

/* Asks where the samples go, before the first one. */
static int open_kind(struct perf_reader *reader, const struct perf_header *header)
{
	struct import_target *const target = reader->target;
	const struct profile_kind *const kind = perf_events_kind(&reader->events, header);
	const int rc = target->open ? target->open(target, kind) : 0;

	reader->kind = kind;
	reader->is_kind_wanted = rc == 0;
	reader->names.profile = target->profile;
	if (rc == 0)
		reader->threads.recording = target->recording;
	return rc < 0 ? rc : 0;
}

static int find_root(struct perf_reader *reader, const struct perf_header *header)
{
	char *const text = reader->text;
	struct frame frame = {.name = text, .kind = FRAME_LABEL};
	struct name_slot key;
	size_t len = header->comm.len;

	memcpy(text, header->comm.text, len);
	for (size_t i = 0; i < len; i++)
		if (text[i] == ' ' || text[i] == '\t')
			text[i] = '_';
	text[len] = '\0';
	if (reader->options->has_tid || reader->options->has_pid)
		len += (size_t)sprintf(text + len, "-%.*s",
				       header->pid.len ? (int)header->pid.len : 1,
				       header->pid.len ? header->pid.text : "?");
	if (reader->options->has_tid)
		len += (size_t)sprintf(text + len, "/%.*s",
				       header->tid.len ? (int)header->tid.len : 1,
				       header->tid.len ? header->tid.text : "?");
	reader->root = name_cache_find(&reader->names, REALM_ROOT, text, len);
	if (reader->root)
		return 0;
	key = name_cache_key(&reader->names, REALM_ROOT, text, len);
	return name_cache_add(&reader->names, &key, &frame, 1, &reader->root);
}

/*
 * Whether to look for inlined functions. perf may have shown them already, as frames of their own.
 */
static bool has_places(const struct perf_reader *reader, const struct perf_frame *frame)
{
	return reader->inlined && !reader->is_in_inlined && frame->file.len > 0 &&
	       frame->file.text[0] == '/';
}

/*
 * Whether the PC is a return address. The PC of a leaf, or of code that the kernel interrupted, is
 * not.
 */
static bool is_return(const struct perf_reader *reader)
{
	return reader->depth > 0 && !reader->is_in_kernel;
}

static uint64_t parse_hex(struct perf_text text)
{
	uint64_t value = 0;

	for (size_t i = 0; i < text.len; i++)
		value = value << 4 |
			(uint64_t)(text.text[i] <= '9' ? text.text[i] - '0'
						       : (text.text[i] | 0x20) - 'a' + 10);
	return value;
}

static bool is_unnamed(const struct perf_frame *frame)
{
	return frame->name.len == 0 || frame->name.text[0] == '[';
}

static size_t find_places(struct perf_reader *reader, const struct perf_frame *frame,
			  const struct perf_names *names, struct dwarf_place *ret)
{
	const struct inlined_place place = {
		.file = names->file,
		.name = names->name,
		.pc = parse_hex(frame->pc),
		.offset = parse_hex(frame->offset),
		.has_offset = frame->offset.len > 0,
		.is_return = is_return(reader),
	};

	return inlined_find(reader->inlined, &place, ret);
}

/*
 * Writes name and file, and pc and source where frames depend on them, as one key. Returns the
 * key's length.
 */
static size_t key_of(const struct perf_reader *reader, const struct perf_frame *frame,
		     const struct perf_text *source)
{
	const bool has_pc =
		(reader->options->has_addrs && is_unnamed(frame)) || has_places(reader, frame);
	char *to = reader->key;

	memcpy(to, frame->name.text, frame->name.len);
	to += frame->name.len;
	*to++ = '\0';
	if (frame->file.len > 0)
		memcpy(to, frame->file.text, frame->file.len);
	to += frame->file.len;
	*to++ = '\0';
	if (has_pc)
		memcpy(to, frame->pc.text, frame->pc.len);
	to += has_pc ? frame->pc.len : 0;
	if (has_places(reader, frame) && is_return(reader))
		*to++ = '\1';
	if (source->len > 0) {
		*to++ = '\2';
		memcpy(to, source->text, source->len);
		to += source->len;
	}
	*to = '\0';
	return (size_t)(to - reader->key);
}

/* Gives the innermost frame its place in the source, such as main.c:12. */
static int set_source(struct perf_reader *reader, const struct perf_text *source, struct frame *ret)
{
	size_t at = source->len;
	uint32_t line = 0, unit = 1;

	for (; source->text[at - 1] != ':'; at--, unit *= 10)
		line += unit * (uint32_t)(source->text[at - 1] - '0');
	ret->file = arena_copy(&reader->arena, source->text, at - 1);
	ret->line = line;
	return ret->file ? 0 : -ENOMEM;
}

/* source: where the frame is in the source, or no text. */
static int find_frame(struct perf_reader *reader, const struct perf_frame *frame,
		      const struct perf_text *source, const struct named **ret)
{
	struct dwarf_place places[DWARF_LINES_MAX_DEPTH];
	struct frame frames[NAME_CACHE_FRAMES];
	const size_t len = key_of(reader, frame, source);
	struct perf_names names = {.name = reader->text,
				   .pc = reader->pc,
				   .file = reader->key + frame->name.len + 1,
				   .inlined = places,
				   .arena = &reader->arena};
	struct name_slot key;
	size_t n;

	*ret = name_cache_find(&reader->names, REALM_FRAME, reader->key, len);
	if (*ret)
		return 0;
	key = name_cache_key(&reader->names, REALM_FRAME, reader->key, len);
	memcpy(reader->text, frame->name.text, frame->name.len);
	reader->text[frame->name.len] = '\0';
	snprintf(reader->pc, sizeof(reader->pc), "%.*s", (int)frame->pc.len, frame->pc.text);
	if (has_places(reader, frame))
		names.inlined_count = find_places(reader, frame, &names, places);
	n = perf_names_of(reader->options, &names, frames, NAME_CACHE_FRAMES);
	if (source->len > 0 && !frames[n - 1].file &&
	    set_source(reader, source, &frames[n - 1]) < 0)
		return -ENOMEM;
	return name_cache_add(&reader->names, &key, frames, n, ret);
}

static int add_frame(struct perf_reader *reader, const struct perf_frame *frame)
{
	static const struct perf_text none = {0};
	int rc;

	if (reader->has_only_frame)
		reader->depth = 0;
	reader->has_only_frame = false;
	if (!reader->is_wanted || reader->problem)
		return 0;
	if (frame->name.len + frame->file.len + frame->pc.len > IMPORT_MAX_NAME) {
		reader->problem = "a name of more than 64 KiB";
		return 0;
	}
	if (reader->depth == IMPORT_MAX_DEPTH) {
		reader->problem = "a stack of more than 16,384 frames";
		return 0;
	}
	rc = find_frame(reader, frame, &none, &reader->stack[reader->depth]);
	reader->depth++;
	reader->is_in_kernel = frame->file.len > 0 && frame->file.text[0] == '[';
	reader->is_in_inlined = frame->file.len == strlen("inlined") &&
				memcmp(frame->file.text, "inlined", frame->file.len) == 0;
	return rc;
}

static int descend_all(struct profile *profile, const struct named *named, uint32_t *id)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < named->n; i++)
		rc = profile_descend(profile, &named->names[i], id);
	return rc;
}

static int count_stack(struct perf_reader *reader)
{
	struct profile *const profile = reader->target->profile;
	uint32_t id = PROFILE_ROOT;
	int rc = descend_all(profile, reader->root, &id);

	for (size_t i = reader->depth; rc == 0 && i > 0; i--)
		rc = descend_all(profile, reader->stack[i - 1], &id);
	if (rc < 0)
		return rc;
	if (rc == 1)
		profile->quality.overflow_samples += reader->weight;
	perf_threads_add(&reader->threads, id, reader->weight);
	return profile_count(profile, id, reader->weight);
}

static int end_sample(struct perf_reader *reader)
{
	struct import_report *const report = &reader->target->report;
	int rc = 0;

	if (!reader->is_open)
		return 0;
	reader->is_open = false;
	if (!reader->is_wanted)
		return 0;
	if (!reader->problem &&
	    reader->weight > UINT64_MAX - reader->target->profile->quality.samples)
		reader->problem = "with its period, the sum of all is greater than 2^64 - 1";
	if (reader->problem) {
		import_report_ignore(report, reader->first_line, reader->problem);
		return 0;
	}
	report->stacks++;
	rc = count_stack(reader);
	return rc;
}

/* A record that is no sample. The kernel's count of samples that it lost is kept. */
static void begin_other(struct perf_reader *reader, const struct perf_header *header)
{
	const struct perf_text said = header->rest;
	uint64_t lost = 0, unit = 1;

	reader->is_other = true;
	if (header->record.len < strlen(LOST) ||
	    memcmp(header->record.text, LOST, strlen(LOST)) != 0)
		return;
	for (size_t i = said.len;
	     i > 0 && said.text[i - 1] >= '0' && said.text[i - 1] <= '9' && unit < LOST_MAX;
	     i--, unit *= 10)
		lost += unit * (uint64_t)(said.text[i - 1] - '0');
	reader->lost += lost;
}

static int begin_wanted(struct perf_reader *reader, const struct perf_header *header)
{
	struct perf_frame frame;
	int rc = reader->kind ? 0 : open_kind(reader, header);

	reader->is_wanted = reader->is_kind_wanted;
	if (rc < 0 || !reader->is_wanted)
		return rc;
	reader->target->report.has_periods |= header->period > 0 &&
					      !reader->options->counts_samples &&
					      reader->kind == &profile_kind_cpu;
	reader->weight = perf_events_weight(&reader->events, reader->kind, header);
	perf_threads_begin(&reader->threads, header);
	rc = find_root(reader, header);
	if (rc == 0 && header->rest.len > 0 && perf_read_only_frame(header, &frame)) {
		rc = add_frame(reader, &frame);
		reader->has_only_frame = true;
	}
	return rc;
}

static int begin_sample(struct perf_reader *reader, const struct perf_header *header,
			enum perf_header_sort sort, uint64_t line)
{
	const int rc = end_sample(reader);

	reader->is_other = false;
	if (rc < 0)
		return rc;
	if (sort > reader->shape)
		reader->shape = sort;
	if (header->record.len > 0) {
		begin_other(reader, header);
		return 0;
	}
	reader->is_open = true;
	reader->depth = 0;
	reader->has_only_frame = false;
	reader->is_in_inlined = false;
	reader->is_in_kernel = false;
	reader->first_line = line;
	reader->problem = header->comm.len > IMPORT_MAX_NAME ? "a name of more than 64 KiB" : NULL;
	reader->is_wanted = perf_events_wants(&reader->events, header->event);
	if (!reader->is_wanted || reader->problem)
		return 0;
	return begin_wanted(reader, header);
}

/* The line before, without its end. */
static struct perf_text line_before(const struct line *line)
{
	struct perf_text before = {line->before, (size_t)(line->text - line->before)};

	while (before.len > 0 &&
	       (before.text[before.len - 1] == '\n' || before.text[before.len - 1] == '\r'))
		before.len--;
	return before;
}

static const char no_line[] = "neither a sample's first line nor a frame";

/*
 * Decides whether the line before has begun a sample, by what follows: a frame, or next, the sort
 * of header that the line is.
 */
static int settle(struct perf_reader *reader, const struct line *line, bool is_frame,
		  enum perf_header_sort next)
{
	const enum perf_header_sort sort = reader->pending;
	const struct perf_text before = line_before(line);
	const bool is_alone = reader->shape == PERF_HEADER_NONE && sort == PERF_HEADER_EVENT &&
			      (next == sort || line->len == 0);
	struct perf_header header;

	reader->pending = PERF_HEADER_NONE;
	if (sort == PERF_HEADER_NONE)
		return 0;
	if ((is_frame || is_alone || sort == reader->shape) &&
	    perf_read_header(before.text, before.len, &header) == sort)
		return begin_sample(reader, &header, sort, reader->number - 1);
	import_report_ignore(&reader->target->report, reader->number - 1, no_line);
	return 0;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_comment(const struct line *line)
{
	return line->text[0] == '#' && (line->len == 1 || is_space(line->text[1]));
}

/* Whether an indented line is a frame. The name of a thread may look like an address, too. */
static bool is_indented_frame(const struct line *line, struct perf_frame *ret)
{
	struct perf_header header;

	if (!is_space(line->text[0]) || !perf_read_frame(line->text, line->len, ret))
		return false;
	if (line->text[0] == '\t')
		return true;
	return (ret->name.len > 0 || ret->file.len > 0) &&
	       (ret->pc.len >= SURE_PC_DIGITS ||
		perf_read_header(line->text, line->len, &header) < PERF_HEADER_FULL);
}

/* Whether the line is the place in the source of the frame before: "  main.c:12". */
static bool is_source(const struct line *line, struct perf_text *ret)
{
	size_t digits = 0;

	*ret = (struct perf_text){line->text, line->len};
	while (ret->len > 0 && is_space(ret->text[0])) {
		ret->text++;
		ret->len--;
	}
	while (digits < ret->len && ret->text[ret->len - 1 - digits] >= '0' &&
	       ret->text[ret->len - 1 - digits] <= '9')
		digits++;
	return digits > 0 && digits < MAX_LINE_DIGITS && digits + 1 < ret->len &&
	       ret->text[ret->len - 1 - digits] == ':';
}

/* A line of a field that is no stack. The place in the source behind a frame is kept with it. */
static int read_other_field(struct perf_reader *reader, const struct line *line)
{
	const struct perf_text before = line_before(line);
	struct perf_text source;
	struct perf_frame frame;

	if (!reader->is_open || !reader->is_wanted || reader->problem || reader->depth == 0 ||
	    !is_source(line, &source) || !perf_read_frame(before.text, before.len, &frame) ||
	    frame.name.len + frame.file.len + frame.pc.len + source.len > IMPORT_MAX_NAME)
		return 0;
	return find_frame(reader, &frame, &source, &reader->stack[reader->depth - 1]);
}

static int read_frame(struct perf_reader *reader, const struct line *line,
		      const struct perf_frame *frame)
{
	const int rc = reader->pending == PERF_HEADER_NONE
			       ? 0
			       : settle(reader, line, true, PERF_HEADER_NONE);

	if (rc < 0 || reader->is_open)
		return rc < 0 ? rc : add_frame(reader, frame);
	import_report_ignore(&reader->target->report, reader->number,
			     "a frame without its sample's first line");
	return 0;
}

/* Reads a line that is no frame for certain. */
static int read_header(struct perf_reader *reader, const struct line *line)
{
	struct perf_header header;
	struct perf_frame frame;
	const enum perf_header_sort sort = perf_read_header(line->text, line->len, &header);
	int rc;

	if (sort < PERF_HEADER_FULL && (reader->is_open || reader->pending > PERF_HEADER_NONE) &&
	    perf_is_frame(line->text, line->len) && perf_read_frame(line->text, line->len, &frame))
		return read_frame(reader, line, &frame);
	rc = settle(reader, line, false, sort);
	if (rc < 0)
		return rc;
	if (sort == PERF_HEADER_FULL || (sort == PERF_HEADER_EVENT && sort >= reader->shape &&
					 perf_read_only_frame(&header, &frame)))
		return begin_sample(reader, &header, sort, reader->number);
	if (sort > PERF_HEADER_NONE && sort >= reader->shape) {
		reader->pending = sort;
		return end_sample(reader);
	}
	if (is_space(line->text[0]) && (reader->is_open || reader->is_other))
		return read_other_field(reader, line);
	if (!is_comment(line))
		import_report_ignore(&reader->target->report, reader->number, no_line);
	return 0;
}

static int read_line(struct perf_reader *reader, const struct line *line)
{
	struct perf_frame frame;
	int rc = 0;

	if (line->is_too_long) {
		reader->problem = "a line of more than 16 MiB";
		reader->pending = PERF_HEADER_NONE;
		if (!reader->is_open)
			import_report_ignore(&reader->target->report, reader->number,
					     reader->problem);
		return 0;
	}
	if (line->len == 0) {
		rc = settle(reader, line, false, PERF_HEADER_NONE);
		reader->is_other = false;
		return rc < 0 ? rc : end_sample(reader);
	}
	if (is_indented_frame(line, &frame))
		return read_frame(reader, line, &frame);
	return is_comment(line) ? 0 : read_header(reader, line);
}

static int read_lines(struct perf_reader *reader, struct lines *lines)
{
	struct line line;
	int rc;

	while ((rc = lines_next(lines, &line)) > 0) {
		int err;

		reader->number = lines->number;
		err = read_line(reader, &line);
		if (err < 0)
			return err;
	}
	if (reader->pending)
		import_report_ignore(&reader->target->report, reader->number, no_line);
	return rc < 0 ? rc : end_sample(reader);
}

static void reader_fini(struct perf_reader *reader)
{
	name_cache_fini(&reader->names);
	arena_fini(&reader->arena);
	if (reader->inlined)
		inlined_stats(reader->inlined, &reader->target->report.inlined);
	inlined_free(reader->inlined);
	free(reader->stack);
	free(reader->key);
	free(reader->text);
}

int perf_read(struct lines *lines, const struct import_options *options,
	      struct import_target *target)
{
	_cleanup_(reader_fini) struct perf_reader reader = {
		.options = options,
		.target = target,
		.names = {.profile = target->profile},
	};
	int rc;

	reader.events = (struct perf_events){.options = options, .report = &target->report};
	reader.threads.recording = target->open ? NULL : target->recording;
	reader.stack = malloc(IMPORT_MAX_DEPTH * sizeof(struct named *));
	reader.key = malloc(IMPORT_MAX_NAME + PERF_NAMES_ROOM);
	reader.text = malloc(2 * IMPORT_MAX_NAME + PERF_NAMES_ROOM);
	if (options->has_inlined)
		reader.inlined = inlined_new();
	if (!reader.stack || !reader.key || !reader.text ||
	    (options->has_inlined && !reader.inlined))
		return -ENOMEM;
	rc = read_lines(&reader, lines);
	target->profile->quality.lost_samples += reader.lost;
	return rc < 0 ? rc
		      : perf_threads_finish(&reader.threads, target->profile, target->report.event);
}
