// SPDX-License-Identifier: Apache-2.0
/*
 * Tells a file's format by its first bytes:
 *
 *   "fgrec "              a recording of our own, with gzip or xz behind the line, unless a folded
 *                         stack's frame begins so
 *   fields of pprof       a message whose first fields all are some that pprof has, in any order,
 *                         with bytes among them that no text has
 *   a NUL byte            something binary; its first letters say what
 *   "<!DOCTYPE", "<?xml"  a flame graph that is drawn already, unless its first line ends as a
 *   stack
 *
 * Otherwise the first line decides that has the shape of one format alone:
 *
 *   an address at its beginning, indented as perf does it, or with a file in parentheses at the
 *   line's end                                                           a frame of perf script
 *   a thread, its CPU or time, and no count at the end                   a header of perf script
 *   ';', and a count at the end                                          a folded stack
 *
 * A line that has a count at its end and no ';' may be a folded stack, a sentence, or a tracepoint:
 * where no line decides, the file is perf script if all such lines are headers.
 */
#include "import/perf_header.h"
#include "import/readers.h"
#include "profile/recording_format.h"

#include <string.h>

struct magic {
	const char *bytes;
	size_t len;
	const char *reason;
};

#define CALLGRIND                                                                                  \
	"this is a profile of Callgrind, which is not read: kcachegrind and callgrind_annotate "   \
	"read it"
#define DRAWING "this is drawn already: give what it was made of, a recording or folded stacks"

#define WANTED "folded stacks (a;b;c 42), the text of perf script, pprof or a recording are needed"

static const struct magic magics[] = {
	{"PERFILE2", 8,
	 "this is perf's binary recording: give what 'perf script -i FILE' writes of it"},
	{"FLR\0", 4,
	 "this is a recording of Java Flight Recorder, which is not read: JDK Mission Control and "
	 "'jfr "
	 "print' read it, and async-profiler's jfrconv makes folded stacks of it"},
	{"\177ELF", 4, "this is a program"},
	{"PK\003\004", 4, "this is a zip archive: unpack it first"},
	{"JAVA PROFILE 1.0", 16, "this is a dump of a Java heap: Eclipse MAT and jhat read it"},
	{"SQLite format 3", 15, "this is a database of SQLite: of a store, give --store DIR"},
	{"<!DOCTYPE", 9, DRAWING},
	{"<!doctype", 9, DRAWING},
	{"<html", 5, DRAWING},
	{"<?xml version=\"1.0\"?>\n<trace-query-result", 41,
	 "this is of Apple's xctrace: inferno-collapse-xctrace makes folded stacks of it"},
	{"<?xml", 5, DRAWING},
	{"<svg", 4, DRAWING},
	{"# callgrind format", 18, CALLGRIND},
	{"heap profile:", 13,
	 "this is pprof's old text: 'go tool pprof -proto FILE' makes pprof of it"},
	{"goroutine profile:", 18,
	 "this is pprof's old text: 'go tool pprof -proto FILE' makes pprof of it"},
	{"Analysis of sampling ", 21,
	 "this is of macOS's sample: inferno-collapse-sample makes folded stacks of it"},
	{"CPU     ID                    FUNCTION:NAME", 43,
	 "this is of DTrace: stackcollapse.pl makes folded stacks of it"},
	{"Function Stack,", 15,
	 "this is of VTune: stackcollapse-vtune.pl makes folded stacks of it"},
	{"Level,Function Name,", 20,
	 "this is of Visual Studio: inferno-collapse-vsprof makes folded stacks of it"},
	{"@[", 2, "this is of bpftrace: stackcollapse-bpftrace.pl makes folded stacks of it"},
};

/* What is in a text of other tools, and nowhere else. */
static const struct magic texts[] = {
	{"speedscope.app/file-format-schema", 33,
	 "this is a profile of speedscope: https://www.speedscope.app reads it. " WANTED},
	{"\"preprocessedProfileVersion\"", 28,
	 "this is a profile of Firefox: https://profiler.firefox.com reads it. " WANTED},
	{"\"traceEvents\"", 13,
	 "this is a trace of Chrome: https://ui.perfetto.dev and speedscope read it. " WANTED},
	{"\"callFrame\"", 11,
	 "this is a profile of V8: Chrome's DevTools and speedscope read it. " WANTED},
	{"creator: callgrind", 18, CALLGRIND},
	{"Time and Allocation Profiling Report", 36,
	 "this is a profile of GHC: inferno-collapse-ghcprof makes folded stacks of it"},
	{"Full thread dump", 16,
	 "this is a dump of Java threads: stackcollapse-jstack.pl makes folded stacks of it"},
};

static bool begins(const char *data, size_t len, const char *bytes, size_t bytes_len)
{
	return len >= bytes_len && memcmp(data, bytes, bytes_len) == 0;
}

/*
 * Whether the first line ends in a space and a number, as a folded stack does whatever its names.
 */
static bool begins_with_stack(const char *data, size_t len)
{
	const char *const feed = memchr(data, '\n', len);
	const char *at = feed ? feed : data + len;
	const char *const end = at;

	if (memchr(data, '\0', (size_t)(end - data)))
		return false;
	while (at > data && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at < end && at - data > 1 && at[-1] == ' ';
}

/* The number at the place, which moves behind it; false: none ends in the bytes. */
static bool read_varint(const char *data, size_t len, size_t *at, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned shift = 0; *at < len && shift < 64; shift += 7) {
		const unsigned char byte = (unsigned char)data[(*at)++];

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

/*
 * Whether the bytes begin as a message of pprof does. The fields may come in any order: Go writes
 * types of samples first, others write the table of strings first. The last field may be cut.
 */
static bool is_pprof(const char *data, size_t len)
{
	enum {
		NUMBERS = 1u << 7 | 1u << 8 | 1u << 9 | 1u << 10 | 1u << 12 | 1u << 13 | 1u << 14,
		TEXTS = 0x7eu | 1u << 11 | 1u << 13 | 1u << 15,
		LEAST = 2,
		ENOUGH = 3
	};
	bool has_binary = false;
	unsigned fields = 0;
	uint64_t tag, value;
	size_t at = 0;

	while (at < len && fields < ENOUGH) {
		const size_t began = at;

		if (!read_varint(data, len, &at, &tag) || tag >> 3 > 15)
			return false;
		if (!(((tag & 7) == 0	? NUMBERS
		       : (tag & 7) == 2 ? TEXTS
					: 0) &
		      1u << (tag >> 3)) ||
		    !read_varint(data, len, &at, &value))
			return false;
		if ((tag & 7) == 2)
			at = value < len - at ? at + (size_t)value : len;
		for (size_t i = began; i < at && !has_binary; i++)
			has_binary = (unsigned char)data[i] < '\t';
		fields++;
	}
	return has_binary && fields >= LEAST;
}

/* The version is a number, gzip is behind its line. A file may be cut in front of the gzip. */
static bool is_recording(const char *data, size_t len)
{
	static const char magic[] = RECORDING_FORMAT_MAGIC;
	size_t at = sizeof(magic) - 1;

	if (!begins(data, len, magic, sizeof(magic) - 1))
		return false;
	while (at < len && data[at] >= '0' && data[at] <= '9')
		at++;
	if (at < len && data[at] == '\n')
		return at + 1 == len || data[at + 1] == '\x1f' || data[at + 1] == '\xfd';
	return !begins_with_stack(data, len);
}

/* Whether the text is JSON, as far as its first letters say. */
static bool is_json(const char *data, size_t len)
{
	size_t at = 0;

	while (at < len && strchr(" \t\r\n", data[at]) && data[at])
		at++;
	if (at == len || (data[at] != '{' && data[at] != '['))
		return false;
	for (at++; at < len && data[at] && strchr(" \t\r\n", data[at]);)
		at++;
	return at < len && data[at] && strchr("\"{}[]-0123456789", data[at]);
}

/* Why a text is none of stacks; NULL: it may be. */
static const char *reason_of_text(const char *data, size_t len)
{
	struct perf_header header;
	const char *const feed = memchr(data, '\n', len);
	const size_t first = feed ? (size_t)(feed - data) : len;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (memmem(data, len, texts[i].bytes, texts[i].len))
			return texts[i].reason;
	return is_json(data, len) && perf_read_header(data, first, &header) < PERF_HEADER_FULL
		       ? "this is JSON, of which no form is read: " WANTED
		       : NULL;
}

static const char *reason_of_binary(const char *data, size_t len)
{
	if (begins_with_stack(data, len))
		return memchr(data, '\0', len) ? "this is binary, and neither stacks nor pprof"
					       : NULL;
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if (begins(data, len, magics[i].bytes, magics[i].len))
			return magics[i].reason;
	if (memchr(data, '\0', len))
		return "this is binary, and neither stacks nor pprof; or UTF-16 without a byte "
		       "order "
		       "mark: give it through 'iconv -f UTF-16LE FILE |'";
	return reason_of_text(data, len);
}

/* The lines that no format has for itself. */
struct doubtful {
	uint64_t headers; /* of perf script, with a count at the end */
	uint64_t stacks;  /* with a count at the end, and no headers */
};

static bool ends_in_count(const char *line, size_t len)
{
	size_t at = len;

	while (at > 0 && ((line[at - 1] >= '0' && line[at - 1] <= '9') || line[at - 1] == '.'))
		at--;
	return at < len && at > 0 && (line[at - 1] == ' ' || line[at - 1] == '\t');
}

/* IMPORT_NOTHING: a line of more than one format, such as a comment, does not decide. */
static enum import_format format_of_line(const char *line, size_t len, struct doubtful *doubtful)
{
	struct perf_header header;
	bool is_header;

	if (len == 0 || (line[0] == '#' && (len == 1 || line[1] == ' ')))
		return IMPORT_NOTHING;
	if (perf_is_frame(line, len))
		return IMPORT_PERF_SCRIPT;
	is_header = perf_read_header(line, len, &header) == PERF_HEADER_FULL;
	if (!ends_in_count(line, len))
		return is_header ? IMPORT_PERF_SCRIPT : IMPORT_NOTHING;
	is_header = is_header && (header.event.len > 0 || header.record.len > 0) &&
		    !memchr(header.comm.text, ';', header.comm.len);
	if (!is_header && memchr(line, ';', len))
		return IMPORT_FOLDED;
	doubtful->headers += is_header;
	doubtful->stacks += !is_header;
	return IMPORT_NOTHING;
}

enum import_format detect_format(const char *data, size_t len, const char **ret_reason)
{
	const char *const end = data + len;
	enum import_format format = IMPORT_NOTHING;
	struct doubtful doubtful = {0};

	if (len == 0)
		return IMPORT_NOTHING;
	if (begins(data, len, "\x1f\x8b", 2) || is_pprof(data, len))
		return IMPORT_PPROF;
	if (is_recording(data, len))
		return IMPORT_RECORDING;
	*ret_reason = reason_of_binary(data, len);
	if (*ret_reason)
		return IMPORT_UNREADABLE;
	while (format == IMPORT_NOTHING && data < end) {
		const char *const feed = memchr(data, '\n', (size_t)(end - data));
		const char *stop = feed ? feed : end;

		if (feed && stop > data && stop[-1] == '\r')
			stop--;
		format = format_of_line(data, (size_t)(stop - data), &doubtful);
		data = feed ? feed + 1 : end;
	}
	if (format != IMPORT_NOTHING)
		return format;
	return doubtful.headers > 0 && doubtful.stacks == 0 ? IMPORT_PERF_SCRIPT : IMPORT_FOLDED;
}
