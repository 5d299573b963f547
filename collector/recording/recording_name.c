// SPDX-License-Identifier: Apache-2.0
/* Walks and names the stacks of a recording's samples, see recording.h. */
#include "recording/recording.h"

#include "base/clock.h"
#include "process/namesakes.h"

#define RETRY_NS   (10 * CLOCK_NS_PER_MS) /* while a sample waits for mappings to be read */
#define WAIT_PAUSE 9			  /* pause after a wait, as a multiple of the wait */

/* When held samples take so many bytes, none waits for tables: snapshots would be left out. */
static size_t patience_bytes(const struct recording *recording)
{
	const struct hold *const hold = &recording->hold;

	return (hold->max_bytes ? hold->max_bytes : HOLD_MAX_BYTES) / 16 * 9;
}

/* Whether the recording ends by itself, and nobody wants it to end before. */
static bool ends_by_itself(const struct recording *recording, const struct recording_model *model)
{
	return recording->options.duration_ns < RECORDING_ENDLESS_NS && !recording->window &&
	       !recording->is_stopped && !model->is_ending;
}

bool recording_waits_for_tables(struct recording *recording, const struct recording_model *model,
				const struct record *record, uint64_t until_ns)
{
	const uint64_t patience_ns = model->is_ending ? PATIENCE_LAST_NS : PATIENCE_USUAL_NS;
	const bool has_room = recording->hold.bytes < patience_bytes(recording);
	const struct patience_ask ask = {
		.time_ns = record->time_ns,
		.now_ns = until_ns,
		.loads = table_cache_loads(model->tables),
		.is_loading = table_cache_gets_on(model->tables),
	};
	const bool lasts = patience_lasts(&recording->patience, &ask);

	recording->is_patient = has_room && record->time_ns + patience_ns > until_ns;
	return recording->is_patient || (has_room && lasts && ends_by_itself(recording, model));
}

static bool walk_once(struct recording *recording, struct recording_model *model,
		      struct process *process, const struct record *record, struct stack *ret)
{
	return unwinder_walk(recording_unwinder(recording, model), process, record->time_ns,
			     &record->sample, ret);
}

static bool may_wait(const struct recording *recording, const struct process *process,
		     uint64_t now_ns)
{
	return recording->is_patient && now_ns >= process->patience_ns;
}

/* The sample waits until more is known of the process. */
static void begin_wait(struct recording *recording, struct process *process, uint64_t now_ns)
{
	recording->retry_ns = now_ns + RETRY_NS;
	if (!process->waiting_ns)
		process->waiting_ns = now_ns;
}

/*
 * Whether the sample is to wait until code of which the JVM's agent has not told has been read in
 * the JVM's memory.
 */
static bool waits_for_code(struct recording *recording, struct recording_model *model,
			   struct process *process, const struct record *record,
			   const struct stack *stack)
{
	const uint64_t now_ns = clock_now_ns();

	if (!stack->missed_code ||
	    !outside_upkeep_ask(&model->targets->outside, process, stack->missed_code,
				record->time_ns) ||
	    !may_wait(recording, process, now_ns))
		return false;
	begin_wait(recording, process, now_ns);
	return true;
}

/*
 * All later samples wait too, whosever they are: so those of one process wait a tenth of the time,
 * but for the first time that a JVM without an agent is read.
 */
static void end_wait(struct process *process)
{
	uint64_t now_ns;

	if (!process->waiting_ns)
		return;
	now_ns = clock_now_ns();
	if (!outside_is_begun_lately(process, now_ns))
		process->patience_ns = now_ns + WAIT_PAUSE * (now_ns - process->waiting_ns);
	process->waiting_ns = 0;
}

/*
 * Walks the sample's stack. If the walk came to an address in a mapping that was not reported, the
 * mappings are read again, and the stack is walked again. False: tables or mappings are missing,
 * and the sample can wait for them.
 */
static bool walk(struct recording *recording, struct recording_model *model,
		 struct process *process, const struct record *record, struct stack *ret)
{
	enum mapping_hope hope;
	uint64_t now_ns;

	if (!walk_once(recording, model, process, record, ret))
		return false;
	if (!process)
		return true;
	if (waits_for_code(recording, model, process, record, ret))
		return false;
	if (!ret->has_missed) {
		end_wait(process);
		return true;
	}
	hope = recording_seek_mappings(recording, model, process, record->time_ns);
	now_ns = clock_now_ns();
	if (hope == MAPPING_HOPE_LATER && may_wait(recording, process, now_ns)) {
		begin_wait(recording, process, now_ns);
		if (!recording->is_waiting)
			recording->counts.reread_put_off = ++recording->mappings.put_off;
		return false;
	}
	end_wait(process);
	if (hope != MAPPING_HOPE_NOW)
		return true;
	sample_watch_end(recording->watch, false, NULL); /* the first walk does not count */
	sample_watch_begin(recording->watch, SAMPLE_TAKE, process, record);
	return walk_once(recording, model, process, record, ret);
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
	namesakes_part(model->targets, process);
	is_named = chain_name(&recording->options.style, model->symbolizer, &walked, ret);
	if (is_named) {
		unwinder_accept(recording_unwinder(recording, model), &stack, true);
		dump_sample(model->dump, ret);
	}
	if (process)
		foreign_upkeep_note(&model->targets->foreign, process);
	return is_named;
}

bool recording_take_waker(struct recording *recording, struct recording_model *model,
			  struct process *process, const struct record *record)
{
	static struct stack stack; /* as above */
	const struct chain_walk walked = {.record = record, .process = process, .stack = &stack};

	if (!recording->waker || !process) {
		recording->counts.waker_stacks_unnamed++;
		recording->samples.wakers++;
		return true;
	}
	if (!walk(recording, model, process, record, &stack) ||
	    !chain_name_waker(&recording->options.style, model->symbolizer, &walked,
			      recording->waker))
		return false;
	unwinder_accept(recording_unwinder(recording, model), &stack, false);
	recording->samples.wakers++;
	return true;
}
