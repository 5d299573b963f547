// SPDX-License-Identifier: Apache-2.0
/* Names a walked stack and gives it to the sinks, see chain.h. */
#include "recording/chain.h"

#include "container/place_name.h"
#include "probes/probe_sample.h"
#include "recording/wait_frame.h"

#include <stdio.h>

#define MAX_LABELS 2 /* label frames: process and thread */
/* what is waited for, and who has ended it, and where */
#define MAX_WAIT_FRAMES (2 + WAKER_STACK_MAX_FRAMES)
#define UNSAMPLED_NAME	"[on CPU, between samples]"

/* Used by the model's thread only. Too large for the C stack. The first are those of a wait. */
static struct frame all_frames[MAX_WAIT_FRAMES + SYMBOLIZER_MAX_FRAMES + MAX_LABELS];

uint32_t chain_prepare(enum sample_step step, struct unwinder *unwinder, struct process *process,
		       const struct record *record)
{
	static struct stack stack; /* used by the model's thread only */
	enum java_methods_reason reason;

	if (step == SAMPLE_REMAINDER) {
		unwinder_keep_remainder(unwinder, process, record->time_ns, &record->sample);
		return 0;
	}
	unwinder_look(unwinder, process, record->time_ns, &record->sample, &stack);
	for (uint32_t i = 0; i < stack.depth; i++) {
		if (stack.entries[i].method)
			process_java_method(process, stack.entries[i].method, record->time_ns,
					    &reason);
	}
	return stack.depth;
}

/*
 * Adds label frames of process and thread, the lowest frames of a graph. The labels are written
 * behind the named frames, because frames end with the root.
 */
static size_t add_labels(const struct chain_style *style, struct symbolizer *symbolizer,
			 const struct chain_walk *walk, struct frame *ret)
{
	struct process *const process = walk->process;
	const char *const comm = walk->record->sample.comm;
	char called[PLACE_NAME_BYTES], text[PLACE_NAME_BYTES + 16];
	size_t n = 0;

	/* Of a process that nobody has looked at in time, the kernel has told its thread's name. */
	if (process)
		process_write_called(process, called, sizeof(called));
	else
		snprintf(called, sizeof(called), "[gone%s%s]", comm[0] ? ": " : "", comm);
	if (style->by_thread) {
		const struct thread_at at = {
			.tid = walk->record->tid, .time_ns = walk->record->time_ns, .comm = comm};
		const char *name = process ? process_thread_name_at(process, &at, NULL) : comm;

		snprintf(text, sizeof(text), "%s", name[0] ? name : "[thread gone]");
		ret[n++] = symbolizer_label(symbolizer, text);
	}
	if (style->by_pid || (process && process->is_namesake))
		snprintf(text, sizeof(text), "%s-%d", called, (int)walk->record->pid);
	else
		snprintf(text, sizeof(text), "%s", called);
	ret[n++] = symbolizer_label(symbolizer, text);
	return n;
}

/* The leaf that says what the thread waits for. */
static struct frame wait_frame(struct symbolizer *symbolizer, const struct sample *sample,
			       const struct frame *frames, size_t n)
{
	char text[WAIT_FRAME_BYTES] = WAIT_FRAME_RUNNABLE;
	struct frame frame;

	if (sample->state == THREAD_BLOCKED)
		wait_frame_blocked(sample_syscall(sample), frames, n, text);
	frame = symbolizer_label(symbolizer, text);
	frame.kind = FRAME_WAIT;
	return frame;
}

/* The frame on top of a wait that says who has ended it. False: that is not known. */
static bool waker_frame(struct symbolizer *symbolizer, const struct chain_walk *walk,
			struct frame *ret)
{
	const struct sample_waker *const waker = &walk->record->sample.waker;
	const struct thread_at at = {
		.tid = waker->tid, .time_ns = walk->record->time_ns, .comm = waker->comm};
	const char *told = walk->waker ? process_thread_name_at(walk->waker, &at, NULL) : "";
	char text[WAIT_FRAME_BYTES + 256];

	if (waker->kind == WAKER_UNKNOWN)
		return false;
	wait_frame_waker(waker, told, text, sizeof(text));
	*ret = symbolizer_label(symbolizer, text);
	ret->kind = FRAME_WAIT;
	return true;
}

/* Puts the frames of a wait in front of the stack. Returns how many there are. */
static size_t add_wait(struct symbolizer *symbolizer, const struct chain_walk *walk,
		       struct frame *stack, size_t n_stack)
{
	const struct sample *const sample = &walk->record->sample;
	struct frame waker;

	if (sample->kind != SAMPLE_OF_WALL || sample->state == THREAD_RUNNING)
		return 0;
	stack[-1] = wait_frame(symbolizer, sample, stack, n_stack);
	if (!waker_frame(symbolizer, walk, &waker))
		return 1;
	stack[-2] = waker;
	if (!walk->waker_stack || !waker_stack_is_of(walk->waker_stack, walk->record))
		return 2;
	return 2 + waker_stack_write(walk->waker_stack, &stack[-2]);
}

/*
 * Puts what the sample is of in place of the probe's own frames. Returns where the stack begins;
 * NULL: there is no sample.
 */
static struct frame *put_leaf(const struct chain_style *style, struct symbolizer *symbolizer,
			      const struct record *record, struct frame *frames, size_t n)
{
	struct frame leaf;
	size_t own;

	if (!probe_sample_leaf(symbolizer, &style->names, record, frames, n, &leaf, &own))
		return NULL;
	frames += own;
	frames[-1] = leaf;
	return frames - 1;
}

static const struct sample_kind *kind_of(const struct sample *sample)
{
	if (probe_sample_is(sample))
		return probe_sample_kind(sample);
	return sample->kind == SAMPLE_OF_WALL ? &sample_kind_wall : &sample_kind_cpu;
}

static uint64_t span_of(const struct sample *sample)
{
	return sample->kind == SAMPLE_OF_WALL ? sample->period : 0;
}

void chain_name_unsampled(const struct chain_style *style, struct symbolizer *symbolizer,
			  struct process *process, const struct record *record,
			  struct named_sample *ret)
{
	static const struct symbolizer_verdict verdict = {.is_rooted = true, .is_java_named = true};
	static const struct stack stack; /* a whole stack of nothing */
	const struct chain_walk walk = {.record = record, .process = process, .stack = &stack};
	size_t n = 0;

	all_frames[n++] = symbolizer_label(symbolizer, UNSAMPLED_NAME);
	n += add_labels(style, symbolizer, &walk, all_frames + n);
	*ret = (struct named_sample){
		.kind = &sample_kind_wall,
		.values = {record->sample.weight},
		.time_ns = record->time_ns,
		.span_ns = record->sample.period,
		.state = THREAD_RUNNING,
		.pid = record->pid,
		.tid = record->tid,
		.comm = record->sample.comm,
		.process = process,
		.stack = &stack,
		.verdict = &verdict,
		.frames = all_frames,
		.n_frames = n,
	};
}

static struct symbolizer_context context_of(const struct chain_style *style,
					    const struct chain_walk *walk)
{
	return (struct symbolizer_context){
		.process = walk->process,
		.time_ns = walk->record->time_ns,
		.names = style->names,
		.cxx_names = style->cxx_names,
		.has_native_lines = style->has_native_lines,
		.cuts_carriers = style->cuts_carriers,
	};
}

bool chain_name_waker(const struct chain_style *style, struct symbolizer *symbolizer,
		      const struct chain_walk *walk, struct waker_stack *ret)
{
	const struct symbolizer_context context = context_of(style, walk);
	struct symbolizer_verdict verdict;
	const size_t n = symbolizer_name(symbolizer, &context, walk->stack, all_frames, &verdict);

	if (verdict.is_waiting)
		return false;
	process_count_unnamed(walk->process, verdict.unnamed);
	waker_stack_keep(ret, walk->record, all_frames, n);
	return true;
}

bool chain_name(const struct chain_style *style, struct symbolizer *symbolizer,
		const struct chain_walk *walk, struct named_sample *ret)
{
	static struct symbolizer_verdict verdict;
	struct frame *frames = all_frames + MAX_WAIT_FRAMES;
	const struct record *const record = walk->record;
	const struct symbolizer_context context = context_of(style, walk);
	size_t n = symbolizer_name(symbolizer, &context, walk->stack, frames, &verdict), n_wait;

	if (verdict.is_waiting)
		return false;
	process_count_unnamed(walk->process, verdict.unnamed);
	if (n == 0)
		frames[n++] = (struct frame){.name = "[unknown: no stack]", .kind = FRAME_UNKNOWN};
	if (probe_sample_is(&record->sample)) {
		struct frame *const begin = put_leaf(style, symbolizer, record, frames, n);

		if (!begin) {
			*ret = (struct named_sample){0};
			return true;
		}
		n = (size_t)(frames + n - begin);
		frames = begin;
	}
	n_wait = add_wait(symbolizer, walk, frames, n);
	frames -= n_wait;
	n += n_wait;
	n += add_labels(style, symbolizer, walk, frames + n);
	*ret = (struct named_sample){
		.kind = kind_of(&record->sample),
		.values = {record->sample.weight},
		.time_ns = record->time_ns,
		.span_ns = span_of(&record->sample),
		.state = (enum thread_state)record->sample.state,
		.pid = record->pid,
		.tid = record->tid,
		.comm = record->sample.comm,
		.process = walk->process,
		.stack = walk->stack,
		.verdict = &verdict,
		.frames = frames,
		.n_frames = n,
	};
	if (probe_sample_is(&record->sample))
		probe_sample_values(record, ret->values);
	return true;
}

bool chain_keep(struct sink *sinks, const struct named_sample *sample)
{
	bool is_kept = true;

	for (struct sink *sink = sinks; sink; sink = sink->next)
		is_kept &= !sink_wants(sink, sample) || sink->ops->take(sink, sample) >= 0;
	return is_kept;
}
