// SPDX-License-Identifier: Apache-2.0
/* Walks and names the stacks of a recording's samples, see recording.h. */
#include "live/recording.h"

/*
 * Walks the sample's stack. If the walk came to an address in a mapping that was not reported, the
 * mappings are read again, and the stack is walked again. False: tables are missing.
 */
static bool walk(struct recording *recording, struct recording_model *model,
		 struct process *process, const struct record *record, struct stack *ret)
{
	const struct recording_miss miss = {.time_ns = record->time_ns, .has_missed = true};

	if (!unwinder_walk(recording_unwinder(recording, model), process, record->time_ns,
			   &record->sample, ret))
		return false;
	if (ret->end != STACK_BAD_RETURN || !process ||
	    !recording_read_mappings(recording, model, process, &miss))
		return true;
	unwinder_discount(recording_unwinder(recording, model), ret);
	sample_watch_end(recording->watch, false, NULL); /* the first walk does not count */
	sample_watch_begin(recording->watch, SAMPLE_TAKE, process, record);
	return unwinder_walk(recording_unwinder(recording, model), process, record->time_ns,
			     &record->sample, ret);
}

bool recording_name_sample(struct recording *recording, struct recording_model *model,
			   struct process *process, const struct record *record,
			   struct named_sample *ret)
{
	static struct stack stack; /* used by the model's thread only; too large for the C stack */
	const struct chain_walk walked = {
		.record = record,
		.process = process,
		.waker = targets_find(model->targets, record->sample.waker.pid),
		.waker_stack = recording->waker,
		.stack = &stack};
	bool is_named;

	if (!walk(recording, model, process, record, &stack))
		return false;
	if (stack.is_in_heap && process->jvm)
		process->jvm->in_heap_ns = record->time_ns;
	is_named = chain_name(&recording->options.style, model->symbolizer, &walked, ret);
	if (process)
		foreign_upkeep_note(&model->targets->foreign, process);
	return is_named;
}

bool recording_take_waker(struct recording *recording, struct recording_model *model,
			  struct process *process, const struct record *record)
{
	static struct stack stack; /* as above */
	const struct chain_walk walked = {.record = record, .process = process, .stack = &stack};
	bool is_named;

	if (!recording->waker || !process) {
		recording->counts.waker_stacks_unnamed++;
		recording->samples.wakers++;
		return true;
	}
	is_named = walk(recording, model, process, record, &stack);
	if (is_named) {
		/* The quality is that of samples. */
		unwinder_discount(recording_unwinder(recording, model), &stack);
		is_named = chain_name_waker(&recording->options.style, model->symbolizer, &walked,
					    recording->waker);
	}
	recording->samples.wakers += is_named;
	return is_named;
}
