// SPDX-License-Identifier: Apache-2.0
/* Lines about what goes from stage to stage, see dump.h. */
#include "sinks/dump.h"

#include "base/clock.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define LINE_BYTES (256u << 10) /* the longest stacks are cut */

/* A line that grows. Used by the model's thread only; too large for the C stack. */
static struct line {
	char text[LINE_BYTES];
	size_t len;
} line;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line.text + line.len, sizeof(line.text) - line.len, format, args);
	va_end(args);
	line.len += n > 0 ? (size_t)n : 0;
	if (line.len >= sizeof(line.text))
		line.len = sizeof(line.text) - 1;
}

static bool begin(const struct dump *dump, enum dump_kind kind, const char *word, uint64_t time_ns)
{
	if (!dump || !(dump->kinds & kind))
		return false;
	line.len = 0;
	add("%-6s %" PRIu64 ".%09" PRIu64, word, time_ns / CLOCK_NS_PER_SEC,
	    time_ns % CLOCK_NS_PER_SEC);
	return true;
}

static void end(const struct dump *dump)
{
	utf8_clean(line.text, line.len, line.text, sizeof(line.text));
	if (dump->queue) {
		dump_queue_add(dump->queue, line.text, strlen(line.text));
		return;
	}
	fprintf(dump->stream, "%s\n", line.text);
	fflush(dump->stream);
}

static void add_wire_text(const char *before, const struct wire_str *text)
{
	add("%s%.*s", before, (int)text->len, text->data);
}

/* ---- events ---- */

static void add_load(const struct wire_record *record)
{
	struct wire_method_load load;

	if (wire_decode_method_load(record, &load) < 0)
		return;
	add(" 0x%" PRIx64 " +%" PRIu32 " level %u", load.addr, load.size, load.level);
	add_wire_text(" ", &load.class_sig);
	add_wire_text(".", &load.method);
	add_wire_text("", &load.method_sig);
}

static void add_unload(const struct wire_record *record)
{
	struct wire_method_unload unload;

	if (wire_decode_method_unload(record, &unload) == 0)
		add(" 0x%" PRIx64, unload.addr);
}

static void add_stub(const struct wire_record *record)
{
	struct wire_stub stub;

	if (wire_decode_stub(record, &stub) < 0)
		return;
	add(" 0x%" PRIx64 " +%" PRIu32, stub.addr, stub.size);
	add_wire_text(" ", &stub.name);
}

static void add_resync(const struct wire_record *record)
{
	struct wire_resync resync;

	if (wire_decode_resync(record, &resync) == 0)
		add(" epoch %" PRIu32 "%s", resync.epoch,
		    record->kind == WIRE_RESYNC_END && !resync.complete ? " incomplete" : "");
}

static void add_thread(const struct wire_record *record)
{
	struct wire_thread thread;

	if (wire_decode_thread(record, &thread) < 0)
		return;
	add(" %" PRIu32, thread.tid);
	add_wire_text(" ", &thread.name);
}

static void add_loss(const struct wire_record *record)
{
	struct wire_loss loss;

	if (wire_decode_loss(record, &loss) < 0)
		return;
	for (uint16_t i = 1; i < WIRE_LOSS_REASONS; i++) {
		if (loss.count[i] > 0)
			add(" %s=%" PRIu64, wire_loss_reason_name(i), loss.count[i]);
	}
}

/* A record of an agent: its word, and what is in it. */
static void add_wire(const struct wire_record *record)
{
	static const struct {
		const char *word;
		void (*add)(const struct wire_record *record);
	} kinds[] = {
		[WIRE_HELLO] = {"hello", NULL},
		[WIRE_RESYNC_BEGIN] = {"resync", add_resync},
		[WIRE_RESYNC_END] = {"resynced", add_resync},
		[WIRE_METHOD_LOAD] = {"load", add_load},
		[WIRE_METHOD_UNLOAD] = {"unload", add_unload},
		[WIRE_STUB] = {"stub", add_stub},
		[WIRE_LOSS] = {"loss", add_loss},
		[WIRE_BYE] = {"bye", NULL},
		[WIRE_THREAD] = {"thread", add_thread},
		[WIRE_PROBES] = {"probes", NULL},
	};
	const bool is_known =
		record->kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[record->kind].word;

	if (is_known)
		add(" %s%s", kinds[record->kind].word,
		    record->flags & WIRE_FLAG_RESYNC ? " again" : "");
	else
		add(" kind %u, %" PRIu32 " bytes", record->kind, record->len);
	if (is_known && kinds[record->kind].add)
		kinds[record->kind].add(record);
}

void dump_event(const struct dump *dump, const struct intake_event *event)
{
	static const char *const words[] = {
		[INTAKE_OPENED] = " opened", [INTAKE_GAP] = " gap", [INTAKE_CLOSED] = " closed"};

	if (!begin(dump, DUMP_EVENTS, "event", clock_now_ns()))
		return;
	add(" %d", (int)event->session->pid);
	if (event->kind == INTAKE_RECORD)
		add_wire(&event->record);
	else
		add("%s", words[event->kind]);
	end(dump);
}

/* ---- records ---- */

static void add_sample(const struct sample *sample)
{
	static const char *const kinds[] = {
		[SAMPLE_OF_CPU] = "cpu",     [SAMPLE_OF_WALL] = "wall",
		[SAMPLE_OF_WAKER] = "waker", [SAMPLE_OF_ALLOC] = "alloc",
		[SAMPLE_OF_ENTER] = "enter", [SAMPLE_OF_ENTERED] = "entered",
		[SAMPLE_OF_PARK] = "park",   [SAMPLE_OF_EXCEPTION] = "exception",
		[SAMPLE_OF_DEAD] = "dead",
	};

	add(" sample %s weight %" PRIu64 " period %" PRIu64 " kernel %" PRIu32 " user %" PRIu32
	    " snapshot %" PRIu32,
	    kinds[sample->kind], sample->weight, sample->period, sample->kernel.len,
	    sample->user.len, sample->stack_len);
}

void dump_record(const struct dump *dump, const struct record *record)
{
	if (!begin(dump, DUMP_RECORDS, "record", record->time_ns))
		return;
	add(" %d/%d cpu %" PRIu32, (int)record->pid, (int)record->tid, record->cpu);
	switch (record->kind) {
	case RECORD_SAMPLE:
		add_sample(&record->sample);
		break;
	case RECORD_MMAP:
		add(" mmap 0x%" PRIx64 " +%" PRIu64 " %s", record->mmap.addr, record->mmap.len,
		    record->mmap.path);
		break;
	case RECORD_EXEC:
		add(" exec");
		break;
	case RECORD_FORK:
		add(" fork of %d", (int)record->fork.parent_pid);
		break;
	case RECORD_EXIT:
		add(" exit");
		break;
	case RECORD_KSYMBOL:
		add(" ksymbol 0x%" PRIx64 " +%" PRIu32 " %s%s", record->ksymbol.addr,
		    record->ksymbol.len, record->ksymbol.name,
		    record->ksymbol.is_gone ? " gone" : "");
		break;
	case RECORD_LOST:
	case RECORD_LOST_SIDE:
		add(" lost %" PRIu64 "%s", record->lost,
		    record->kind == RECORD_LOST_SIDE ? " of the side ring" : "");
		break;
	case RECORD_THROTTLED:
		add(" throttled");
		break;
	}
	end(dump);
}

/* ---- samples ---- */

static void dump_stack(const struct dump *dump, const struct named_sample *sample)
{
	const struct stack *const stack = sample->stack;

	if (!begin(dump, DUMP_STACKS, "stack", sample->time_ns))
		return;
	add(" %d/%d %" PRIu32 " frames, %s", (int)sample->pid, (int)sample->tid, stack->depth,
	    stack_end_name((enum stack_end)stack->end));
	if (stack->end_addr)
		add(" at 0x%" PRIx64, stack->end_addr);
	add(":");
	for (uint32_t i = 0; i < stack->depth; i++) {
		const struct stack_entry *const entry = &stack->entries[i];

		add(" 0x%" PRIx64 "%s%s", entry->addr, entry->is_kernel ? "k" : "",
		    entry->is_gap ? "(gap)" : "");
		if (entry->method)
			add("(0x%" PRIx64 "@0x%" PRIx64 ")", entry->method, entry->bcp);
	}
	end(dump);
}

static void dump_frames(const struct dump *dump, const struct named_sample *sample)
{
	if (!begin(dump, DUMP_FRAMES, "frames", sample->time_ns))
		return;
	add(" %d/%d %s%s %" PRIu64 " ", (int)sample->pid, (int)sample->tid,
	    sample->kind->profile->name, sample->verdict->is_rooted ? "" : " not-rooted",
	    sample->values[0]);
	for (size_t i = sample->n_frames; i-- > 0;)
		add("%s%s%s", sample->frames[i].name, frame_kind_suffix(sample->frames[i].kind),
		    i ? ";" : "");
	end(dump);
}

void dump_sample(const struct dump *dump, const struct named_sample *sample)
{
	if (sample->n_frames == 0)
		return; /* a sample that was none: what its probe told cannot be true */
	dump_stack(dump, sample);
	dump_frames(dump, sample);
}
