// SPDX-License-Identifier: Apache-2.0
/* Names a walked stack and gives it to the sinks, see chain.h. */
#include "live/chain.h"

#include <stdio.h>

#define MAX_LABELS 2 /* label frames: process and thread */

uint32_t chain_prepare(enum sample_step step, struct unwinder *unwinder, struct process *process,
		       const struct record *record)
{
	static struct stack stack; /* used by the model's thread only */
	const char *reason;

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
	char title[512] = "[gone]", text[600];
	size_t n = 0;

	if (process)
		process_title(process, title, sizeof(title));
	if (style->by_thread) {
		const char *name = process ? process_thread_name(process, walk->record->tid) : "";

		snprintf(text, sizeof(text), "%s", name[0] ? name : "[thread gone]");
		ret[n++] = symbolizer_label(symbolizer, text);
	}
	if (style->by_pid)
		snprintf(text, sizeof(text), "%s-%d", title, (int)walk->record->pid);
	else
		snprintf(text, sizeof(text), "%s", title);
	ret[n++] = symbolizer_label(symbolizer, text);
	return n;
}

bool chain_name(const struct chain_style *style, struct symbolizer *symbolizer,
		const struct chain_walk *walk, struct named_sample *ret)
{
	/* Used by the model's thread only. Too large for the C stack. */
	static struct frame frames[SYMBOLIZER_MAX_FRAMES + MAX_LABELS];
	static struct symbolizer_verdict verdict;
	const struct record *const record = walk->record;
	const struct symbolizer_context context = {
		.process = walk->process,
		.time_ns = record->time_ns,
		.names = style->names,
		.cxx_names = style->cxx_names,
		.has_native_lines = style->has_native_lines,
		.cuts_carriers = style->cuts_carriers,
	};
	size_t n = symbolizer_name(symbolizer, &context, walk->stack, frames, &verdict);

	if (verdict.is_waiting)
		return false;
	if (n == 0)
		frames[n++] = (struct frame){.name = "[unknown: no stack]", .kind = FRAME_UNKNOWN};
	n += add_labels(style, symbolizer, walk, frames + n);
	*ret = (struct named_sample){
		.kind = &sample_kind_cpu,
		.values = {record->sample.weight},
		.time_ns = record->time_ns,
		.pid = record->pid,
		.tid = record->tid,
		.process = walk->process,
		.stack = walk->stack,
		.verdict = &verdict,
		.frames = frames,
		.n_frames = n,
	};
	return true;
}

bool chain_keep(struct sink *sinks, const struct named_sample *sample)
{
	bool is_kept = true;

	for (struct sink *sink = sinks; sink; sink = sink->next)
		is_kept &= sink->ops->take(sink, sample) >= 0;
	return is_kept;
}
