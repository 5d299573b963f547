// SPDX-License-Identifier: Apache-2.0
/*
 * The text of perf script, for all tools that read it:
 *
 *   comm PID/TID [cpu] seconds: period event:
 *   <tab>address function (file)          leaf first
 *   <empty line>
 *
 * The event says the kind: cpu-clock, wall-clock or, as perf record --off-cpu has it, offcpu-time;
 * of other kinds it is the kind's name. A period of wall-clock, offcpu-time and lock is
 * nanoseconds.
 *
 * A block is a stack, and its period is the stack's number of samples: stackcollapse-perf.pl and
 * inferno add periods up and so get our counts. comm is the lowest frame if that is a label,
 * because these tools make a lowest frame of comm; its spaces become '_', as these tools would make
 * them. Otherwise comm is "all". The tree has no addresses, so addresses are 0.
 *
 * With a timeline, a block is the samples of one thread at one time, in seconds since the
 * recording's start, and PID and TID are the thread's. Samples without a time are at 0, with PID 0.
 *
 * The file tells readers the kind: "/tmp/perf-0.map" is generated code, "[kernel.kallsyms]" the
 * kernel, "inlined" a function inlined into the frame that follows, "[waiting]" no code but
 * why a thread waits, "[class]" the class of an object, a lock or an exception.
 */
#include "encode/text.h"
#include "render/by_thread.h"
#include "render/render.h"
#include "render/source.h"

#include "base/cleanup.h"
#include "base/intern.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROOT	   0u
#define MAP_FILE   "/tmp/perf-0.map"
#define WAIT_FILE  "[waiting]"
#define CLASS_FILE "[class]"
#define ANY_COMM   "all"
#define HEAD	   "\t               0 "
#define NS_PER_SEC UINT64_C(1000000000)
#define NS_PER_US  1000

struct perf_writer {
	const struct profile *profile;
	const struct profile_kind *kind;
	uint64_t period; /* of a weight of 1 */
	FILE *stream;
	struct bytes text;
	struct intern kept;
	const char **lines; /* by node; NULL: the line is not made yet */
	bool failed;	    /* out of memory */
};

static const char *event_of(const struct profile_kind *kind)
{
	static const struct {
		const struct profile_kind *kind;
		const char *event;
	} events[] = {
		{&profile_kind_cpu, "cpu-clock"},
		{&profile_kind_wall, "wall-clock"},
		{&profile_kind_offcpu, "offcpu-time"},
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		if (profile_kind_is_same(events[i].kind, kind))
			return events[i].event;
	return *kind->name ? kind->name : "?";
}

static const char *file_of(const struct profile_node *node)
{
	const enum frame_kind kind = (enum frame_kind)node->kind;

	if (frame_kind_is_inlined(kind))
		return "inlined";
	if (kind == FRAME_KERNEL)
		return "[kernel.kallsyms]";
	if (kind == FRAME_STUB || frame_kind_is_java(kind))
		return MAP_FILE;
	if (kind == FRAME_WAIT)
		return WAIT_FILE;
	if (kind == FRAME_CLASS)
		return CLASS_FILE;
	return node->module ? node->module : "[unknown]";
}

/* Readers take a space for the end of a word. */
static void write_word(struct perf_writer *writer, const char *name)
{
	struct bytes *const text = &writer->text;

	text->len = 0;
	text_clean(text, *name ? name : "?", "?");
	for (size_t i = 0; i < text->len; i++) {
		if (text->data[i] == ' ')
			text->data[i] = '_';
	}
	fputs(bytes_text(text), writer->stream);
}

/*
 * The line of a node. The line is made at its first use, because stacks share most of their frames.
 */
static const char *line_of(struct perf_writer *writer, uint32_t id)
{
	const struct profile_node *const node = &writer->profile->nodes[id];
	struct bytes *const text = &writer->text;

	if (writer->lines[id])
		return writer->lines[id];
	text->len = 0;
	bytes_add(text, HEAD, strlen(HEAD));
	text_clean(text, *node->name ? node->name : "?", "?");
	bytes_add(text, " (", 2);
	text_clean(text, file_of(node), "?");
	bytes_add(text, ")\n", 2);
	writer->lines[id] = intern_add_str(&writer->kept, bytes_text(text));
	writer->failed |= !writer->lines[id];
	return writer->lines[id] ? writer->lines[id] : "";
}

/* The node of the lowest frame of the stack at id. */
static uint32_t lowest(const struct profile *profile, uint32_t id)
{
	while (id != ROOT && profile->nodes[id].parent != ROOT)
		id = profile->nodes[id].parent;
	return id;
}

struct block {
	uint32_t node;
	uint64_t count;
	pid_t pid, tid;
	const char *comm; /* of a stack that does not begin with one; NULL: not known */
	uint64_t time_ns;
};

static int write_block(struct perf_writer *writer, const struct block *block)
{
	const struct profile_node *const nodes = writer->profile->nodes;
	const uint32_t base = lowest(writer->profile, block->node);
	FILE *const stream = writer->stream;
	uint64_t period;
	const bool has_comm = base != ROOT && nodes[base].kind == FRAME_LABEL;

	write_word(writer, has_comm ? nodes[base].name : block->comm ? block->comm : ANY_COMM);
	fprintf(stream, " %d/%d [000] %" PRIu64 ".%06" PRIu64 ": %" PRIu64 " ", (int)block->pid,
		(int)block->tid, block->time_ns / NS_PER_SEC,
		block->time_ns % NS_PER_SEC / NS_PER_US,
		__builtin_mul_overflow(block->count, writer->period, &period) ? UINT64_MAX
									      : period);
	write_word(writer, event_of(writer->kind));
	fputs(":\n", stream);
	for (uint32_t id = block->node; id != ROOT && !(has_comm && id == base);
	     id = nodes[id].parent)
		fputs(line_of(writer, id), stream);
	fputc('\n', stream);
	if (writer->failed || writer->text.failed)
		return -ENOMEM;
	return ferror(stream) ? (errno ? -errno : -EIO) : 0;
}

static int write_rest(struct perf_writer *writer, const uint64_t *rest)
{
	int rc = 0;

	for (uint32_t id = 0; id < writer->profile->count && rc == 0; id++) {
		const struct block block = {.node = id, .count = rest[id]};

		if (block.count > 0)
			rc = write_block(writer, &block);
	}
	return rc;
}

static int write_timed(struct perf_writer *writer, const struct timeline *timeline,
		       const struct by_thread *by_thread)
{
	const uint32_t count = by_thread->first[by_thread->threads];
	int rc = 0;

	for (uint32_t i = 0; i < count && rc == 0; i++) {
		const struct timeline_entry *const entry = &by_thread->entries[i];
		/*
		 * NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the entries are timeline's
		 */
		const struct timeline_thread *const thread = &timeline->threads[entry->thread];
		const struct block block = {
			.node = entry->node,
			.count = entry->weight,
			.pid = timeline->processes[thread->process].pid,
			.tid = thread->tid,
			.comm = thread->name[0] ? thread->name : NULL,
			.time_ns = entry->bucket * timeline->bucket_ns,
		};

		rc = write_block(writer, &block);
	}
	return rc;
}

static void perf_writer_fini(struct perf_writer *writer)
{
	bytes_fini(&writer->text);
	intern_fini(&writer->kept);
	free(writer->lines);
}

int render_perf_text(const struct profile *profile, const struct render_options *options,
		     FILE *stream)
{
	const struct timeline *const timeline = options ? options->timeline : NULL;
	_cleanup_(by_thread_fini) struct by_thread by_thread = {0};
	const bool is_time = profile_kind_is_time(render_kind(options));
	_cleanup_(perf_writer_fini) struct perf_writer writer = {
		.profile = profile,
		.kind = render_kind(options),
		.period = is_time ? NS_PER_US : 1,
		.stream = stream,
	};
	int rc = by_thread_init(&by_thread, profile, timeline, BY_THREAD_MOMENT);

	writer.lines = calloc(profile->count, sizeof(*writer.lines));
	if (rc == 0 && !writer.lines)
		rc = -ENOMEM;
	errno = 0;
	if (rc == 0)
		rc = write_rest(&writer, by_thread.rest);
	if (rc == 0)
		rc = write_timed(&writer, timeline, &by_thread);
	return rc;
}
