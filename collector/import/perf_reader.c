// SPDX-License-Identifier: Apache-2.0
/*
 * The text of perf script, one sample after the other:
 *
 *   header LF { frame LF } LF       leaf first; perf_header.h describes the lines
 *   header frame LF                 a sample without a call chain
 *   "#" ... LF                      a comment
 *
 * A sample weighs its period if it has one, else 1. Only one of several events is kept, because
 * their periods cannot be added. The lowest frame is the comm, with '_' for spaces.
 *
 * Periods of the events wall-clock, offcpu-time and lock are nanoseconds: these are the kinds wall,
 * offcpu and lock. The events alloc, objects, contentions and exceptions are the kinds of these
 * names. All other events are of the kind cpu.
 */
#include "import/import_limits.h"
#include "import/inlined.h"
#include "import/name_cache.h"
#include "import/perf_header.h"
#include "import/perf_names.h"
#include "import/readers.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US      1000
#define SURE_PC_DIGITS 8u /* no header begins with so many hexadecimal digits */

enum realm {
	REALM_FRAME,
	REALM_ROOT,
};

struct perf_reader {
	const struct import_options *options;
	struct import_target *target;
	struct name_cache names;
	struct arena arena;	    /* names that this reader makes */
	const struct named **stack; /* leaf first */
	size_t depth;
	uint64_t weight;
	uint64_t first_line; /* number of the line at which the sample begins */
	const struct named *root;
	bool is_in_kernel;	 /* the frame before was a kernel frame */
	struct inlined *inlined; /* NULL: inlined functions are not wanted */
	bool is_in_inlined;	 /* perf marked the frame before as inlined */
	const char *problem;	 /* why the sample cannot be kept, or NULL */
	bool is_open;		 /* the header of a sample was read, and the sample's end was not */
	bool is_wanted;
	bool has_event;			 /* an event was chosen, which may have no name */
	const struct profile_kind *kind; /* of the event; NULL: no sample was kept yet */
	bool is_kind_wanted;
	char *key;  /* the key of a frame in the cache */
	char *text; /* the name that perf_names_of changes */
};

static bool is_event(struct perf_text event, const char *wanted)
{
	const size_t len = strlen(wanted);

	if (event.len < len || memcmp(event.text, wanted, len) != 0)
		return false;
	/* "cycles" also means "cycles:Pu" */
	return event.len == len ||
	       (event.text[len] == ':' &&
		strspn(event.text + len + 1, "ukhGHpPSDIWeb") >= event.len - len - 1);
}

static void keep_event(char ret[IMPORT_EVENT_BYTES], struct perf_text event)
{
	if (!ret[0])
		snprintf(ret, IMPORT_EVENT_BYTES, "%.*s", (int)event.len, event.text);
}

/* Keeps the event that was asked for, or else the first event. */
static bool wants_event(struct perf_reader *reader, struct perf_text event)
{
	struct import_report *const report = &reader->target->report;
	const char *const asked = reader->options->event;
	bool is_wanted;

	if (event.len >= IMPORT_EVENT_BYTES)
		event.len = IMPORT_EVENT_BYTES - 1;
	if (asked)
		is_wanted = is_event(event, asked);
	else
		is_wanted = !reader->has_event ||
			    (event.len == strlen(report->event) &&
			     strncmp(report->event, event.len ? event.text : "", event.len) == 0);
	if (is_wanted) {
		reader->has_event = true;
		keep_event(report->event, event);
		return true;
	}
	keep_event(report->other_event, event);
	report->other_events++;
	return false;
}

/* Without periods samples are counted, whatever their event is. */
static const struct profile_kind *kind_of(const struct perf_reader *reader,
					  const struct perf_header *header)
{
	static const struct {
		const char *event;
		const struct profile_kind *kind;
	} events[] = {
		{"wall-clock", &profile_kind_wall},
		{"offcpu-time", &profile_kind_offcpu},
		{"alloc", &profile_kind_alloc},
		{"objects", &profile_kind_objects},
		{"live", &profile_kind_live},
		{"live_objects", &profile_kind_live_objects},
		{"lock", &profile_kind_lock},
		{"contentions", &profile_kind_contentions},
		{"exceptions", &profile_kind_exceptions},
	};

	if (header->period == 0 || reader->options->counts_samples)
		return &profile_kind_cpu;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		if (is_event(header->event, events[i].event))
			return events[i].kind;
	return &profile_kind_cpu;
}

/* Asks where the samples go, before the first one. */
static int open_kind(struct perf_reader *reader, const struct perf_header *header)
{
	struct import_target *const target = reader->target;
	const int rc = target->open ? target->open(target, kind_of(reader, header)) : 0;

	reader->kind = kind_of(reader, header);
	reader->is_kind_wanted = rc == 0;
	reader->names.profile = target->profile;
	return rc < 0 ? rc : 0;
}

static uint64_t weight_of(const struct perf_reader *reader, const struct perf_header *header)
{
	if (header->period == 0 || reader->options->counts_samples)
		return 1;
	if (!profile_kind_is_time(reader->kind))
		return header->period;
	return header->period / NS_PER_US + (header->period % NS_PER_US >= NS_PER_US / 2);
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

/* Writes name and file, and pc where frames depend on pc, as one key. Returns the key's length. */
static size_t key_of(const struct perf_reader *reader, const struct perf_frame *frame)
{
	const bool has_pc = (reader->options->has_addrs && frame->name.text[0] == '[') ||
			    has_places(reader, frame);
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
	*to = '\0';
	return (size_t)(to - reader->key);
}

static int find_frame(struct perf_reader *reader, const struct perf_frame *frame,
		      const struct named **ret)
{
	struct dwarf_place places[DWARF_LINES_MAX_DEPTH];
	struct frame frames[NAME_CACHE_FRAMES];
	const size_t len = key_of(reader, frame);
	struct perf_names names = {.name = reader->text,
				   .file = reader->key + frame->name.len + 1,
				   .pc = reader->key + frame->name.len + frame->file.len + 2,
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
	if (has_places(reader, frame))
		names.inlined_count = find_places(reader, frame, &names, places);
	n = perf_names_of(reader->options, &names, frames, NAME_CACHE_FRAMES);
	return name_cache_add(&reader->names, &key, frames, n, ret);
}

static int add_frame(struct perf_reader *reader, const struct perf_frame *frame)
{
	int rc;

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
	rc = find_frame(reader, frame, &reader->stack[reader->depth]);
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

static int begin_sample(struct perf_reader *reader, const struct perf_header *header, uint64_t line)
{
	struct import_report *const report = &reader->target->report;
	struct perf_frame frame;
	int rc = end_sample(reader);

	if (rc < 0)
		return rc;
	reader->is_open = true;
	reader->depth = 0;
	reader->is_in_inlined = false;
	reader->is_in_kernel = false;
	reader->first_line = line;
	reader->problem = header->comm.len > IMPORT_MAX_NAME ? "a name of more than 64 KiB" : NULL;
	reader->is_wanted = wants_event(reader, header->event);
	if (!reader->is_wanted || reader->problem)
		return 0;
	if (!reader->kind)
		rc = open_kind(reader, header);
	reader->is_wanted = reader->is_kind_wanted;
	if (rc < 0 || !reader->is_wanted)
		return rc;
	report->has_periods |= header->period > 0 && !reader->options->counts_samples &&
			       reader->kind == &profile_kind_cpu;
	reader->weight = weight_of(reader, header);
	rc = find_root(reader, header);
	if (rc == 0 && header->frame.len > 0 &&
	    perf_read_frame(header->frame.text, header->frame.len, &frame) && frame.file.len > 0)
		rc = add_frame(reader, &frame);
	return rc;
}

static int read_line(struct perf_reader *reader, const struct line *line, uint64_t number)
{
	struct perf_header header;
	struct perf_frame frame;
	bool is_frame;

	if (line->is_too_long) {
		reader->problem = "a line of more than 16 MiB";
		if (!reader->is_open)
			import_report_ignore(&reader->target->report, number, reader->problem);
		return 0;
	}
	if (line->len == 0)
		return end_sample(reader);
	if (line->text[0] == '#')
		return 0;
	is_frame = (line->text[0] == ' ' || line->text[0] == '\t') &&
		   perf_read_frame(line->text, line->len, &frame);
	if (is_frame && reader->is_open &&
	    (frame.pc.len >= SURE_PC_DIGITS || !perf_is_header(line->text, line->len)))
		return add_frame(reader, &frame);
	if ((!is_frame || frame.pc.len < SURE_PC_DIGITS) &&
	    perf_read_header(line->text, line->len, &header))
		return begin_sample(reader, &header, number);
	import_report_ignore(&reader->target->report, number,
			     is_frame ? "a frame without its sample's first line"
				      : "neither a sample's first line nor a frame");
	return 0;
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
	struct line line;
	int rc;

	reader.stack = malloc(IMPORT_MAX_DEPTH * sizeof(struct named *));
	reader.key = malloc(IMPORT_MAX_NAME + PERF_NAMES_ROOM);
	reader.text = malloc(2 * IMPORT_MAX_NAME + PERF_NAMES_ROOM);
	if (options->has_inlined)
		reader.inlined = inlined_new();
	if (!reader.stack || !reader.key || !reader.text ||
	    (options->has_inlined && !reader.inlined))
		return -ENOMEM;
	while ((rc = lines_next(lines, &line)) > 0) {
		const int err = read_line(&reader, &line, lines->number);

		if (err < 0)
			return err;
	}
	return rc < 0 ? rc : end_sample(&reader);
}
