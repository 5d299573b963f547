// SPDX-License-Identifier: Apache-2.0
/* What is read of a JVM beside its agent, and what readings count, see outside_upkeep.h. */
#include "process/outside_upkeep.h"

#include "process/code_events.h"

#include <stdlib.h>

bool outside_process_is_heard(const struct process *process)
{
	const struct jvm *const jvm = process->jvm;

	return jvm && !jvm->is_outside && jvm->state == JVM_CURRENT && !process->gone_ns &&
	       !process->is_replayed;
}

/* Whether code of the JVM can lie at the address, as far as is known. */
static bool is_in_heaps(const struct outside_known *known, uint64_t addr)
{
	bool is_in = known->n_heaps == 0 || addr == 0;

	for (size_t i = 0; i < known->n_heaps; i++)
		is_in |= addr >= known->heaps[i].low && addr < known->heaps[i].high;
	return is_in;
}

/* Whether code that a sample came to may be new: what is known was read before the sample. */
static bool may_be_new(const struct outside_known *known, uint64_t addr, uint64_t time_ns)
{
	return is_in_heaps(known, addr) && (!known->read_ns || time_ns > known->read_ns);
}

/* Whether a reading that is due or under way will tell. */
static bool is_answered_soon(const struct outside_process *outside, uint64_t now_ns)
{
	return !outside->is_late && !outside->err && outside->due_ns <= now_ns + OUTSIDE_ANSWER_NS;
}

/*
 * Whether the code of a JVM without an agent is still being told for the first time, or may be code
 * that the next reading finds. On a busy host a reading ends long after it was due.
 */
static bool is_being_told(const struct process *process, uint64_t addr, uint64_t time_ns,
			  uint64_t now_ns)
{
	const struct outside_process *const outside = process->outside;
	const struct jvm *const jvm = process->jvm;

	if (!outside || outside->is_beside || !is_answered_soon(outside, now_ns))
		return false;
	return !(jvm && jvm->is_outside && jvm->state == JVM_CURRENT) ||
	       may_be_new(&outside->known, addr, time_ns);
}

/* Code that a sample came to may be new: it is read as soon as that of a JVM with news. */
static void hurry(const struct process *process, uint64_t addr, uint64_t time_ns)
{
	struct outside_process *const outside = process->outside;
	uint64_t soon_ns;

	if (!outside || outside->is_beside || outside->err ||
	    !may_be_new(&outside->known, addr, time_ns))
		return;
	outside->quiet = 0;
	soon_ns = outside->started_ns + OUTSIDE_HOT_NS;
	if (soon_ns < outside->ready_ns)
		soon_ns = outside->ready_ns;
	if (outside->due_ns > soon_ns)
		outside->due_ns = soon_ns;
}

struct outside_process *outside_process_begin_beside(struct process *process, uint64_t now_ns)
{
	struct outside_process *outside = process->outside;

	if (!outside_process_is_heard(process) || !process_maps_libjvm_now(process))
		return NULL;
	if (!outside)
		outside = calloc(1, sizeof(*outside));
	if (!outside)
		return NULL;
	if (!process->outside) {
		outside->is_beside = true;
		outside->since_ns = outside->due_ns = outside->threads_due_ns = now_ns;
		process->outside = outside;
	}
	return outside->is_beside ? outside : NULL;
}

bool outside_process_ask(struct process *process, uint64_t addr, uint64_t time_ns, uint64_t now_ns)
{
	struct outside_process *outside;

	if (!outside_process_is_heard(process)) {
		hurry(process, addr, time_ns);
		return is_being_told(process, addr, time_ns, now_ns);
	}
	outside = outside_process_begin_beside(process, now_ns);
	if (!outside)
		return false;
	outside->beside.was_asked = true;
	if (!may_be_new(&outside->known, addr, time_ns))
		return false;
	outside->beside.is_vain |= !outside->beside.is_asked;
	outside->beside.is_asked = true;
	return is_answered_soon(outside, now_ns);
}

/* Names of threads change nothing of the code. */
void outside_apply_beside(struct outside_upkeep *upkeep, const struct outside_host *host,
			  struct process *process, const struct wire_record *record,
			  uint64_t now_ns)
{
	struct outside_beside *const beside = &process->outside->beside;

	if (record->kind == WIRE_THREAD) {
		code_events_apply(process, record, now_ns);
		return;
	}
	if (!code_events_apply_beside(process, record, now_ns))
		return;
	host->read(host->arg, process, record);
	if (record->kind == WIRE_METHOD_UNLOAD)
		return;
	upkeep->stats.beside++;
	beside->has_told = true;
	beside->is_vain = false;
}

/* Notes what a whole reading beside an agent has come to. */
void outside_note_beside(struct outside_process *outside, const struct outside_told *told,
			 uint64_t now_ns)
{
	struct outside_beside *const beside = &outside->beside;

	if (told->told.has_more)
		return;
	if (beside->is_asked && beside->is_vain && !beside->has_told) {
		outside->due_ns = now_ns + (OUTSIDE_VAIN_NS << beside->vain);
		if (outside->due_ns < outside->ready_ns)
			outside->due_ns = outside->ready_ns;
		beside->vain += beside->vain < OUTSIDE_VAIN_MOST;
	} else if (beside->is_asked) {
		beside->vain = 0;
	}
	beside->is_asked = false;
}

bool outside_is_begun_lately(const struct process *process, uint64_t now_ns)
{
	const struct outside_process *const outside = process->outside;

	return outside && !outside->is_beside && now_ns < outside->first_ns + OUTSIDE_FIRST_NS;
}

bool outside_is_read(const struct process *process)
{
	const struct outside_process *const outside = process->outside;

	return outside && !outside->only_names &&
	       (!outside->is_beside || outside->beside.was_asked);
}

void outside_upkeep_note_sample(struct outside_upkeep *upkeep, struct process *process,
				uint64_t now_ns)
{
	const struct outside_process *outside;

	if (!process->outside && outside_process_begin_beside(process, now_ns))
		upkeep->threads_now++; /* until a walk through the table has counted */
	outside_process_note_sample(process->outside, now_ns);
	outside = process->outside;
	if (outside && outside_process_wants_threads(outside) &&
	    outside->threads_due_ns < upkeep->next_ns)
		upkeep->next_ns = outside->threads_due_ns;
}

static const struct counter counters[] = {
	COUNTER_GAUGE(
		struct outside_stats, read_now, "outside.jvms", "outside_jvms",
		"JVMs that are read from outside: without an agent, or with code of which the "
		"agent cannot tell."),
	COUNTER_SUM(struct outside_stats, steps, "outside.steps", "outside_steps_total",
		    "Readings of such JVMs."),
	COUNTER_SUM(struct outside_stats, bytes, "outside.bytes", "outside_read_bytes_total",
		    "Bytes of their memory that were read."),
	COUNTER_SUM(struct outside_stats, reads, "outside.reads", "outside_reads_total",
		    "System calls for that."),
	COUNTER_SUM(struct outside_stats, took_ns, "outside.took_us", "outside_cpu_seconds_total",
		    "Processor time of that.", .unit = COUNTER_NS_IN_US),
	COUNTER_SUM(struct outside_stats, named, "outside.named", "outside_named_total",
		    "Pieces of their code that were read."),
	COUNTER_SUM(struct outside_stats, unnamed, "outside.unnamed", "outside_unnamed_total",
		    "Pieces of their code whose method could not be read."),
	COUNTER_SUM(struct outside_stats, uninlined, "outside.uninlined", "outside_uninlined_total",
		    "Methods of theirs whose inlined methods could not be read."),
	COUNTER_SUM(struct outside_stats, unlined, "outside.unlined", "outside_unlined_total",
		    "Methods of theirs whose lines could not be read, or had no room."),
	COUNTER_SUM(struct outside_stats, reused, "outside.reused", "outside_reused_total",
		    "Addresses that had other code in the reading before."),
	COUNTER_SUM(struct outside_stats, changed, "outside.changed", "outside_changed_total",
		    "Pieces of code that changed while they were read."),
	COUNTER_SUM(struct outside_stats, left_out, "outside.left_out", "outside_left_out_total",
		    "Pieces of code that there was no room for."),
	COUNTER_SUM(struct outside_stats, cut, "outside.cut", "outside_cut_total",
		    "Command lines and environments of theirs that were read in part."),
	COUNTER_SUM(struct outside_stats, cut_threads, "outside.cut_threads",
		    "outside_cut_threads_total",
		    "Threads of theirs that have the first 15 bytes of a name, because more could "
		    "not be read: also threads that are not Java's."),
	COUNTER_SUM(struct outside_stats, beside, "outside.beside", "outside_beside_total",
		    "Pieces of code of which an agent had not told, or that got another "
		    "language's name."),
	COUNTER_SUM(struct outside_stats, errors, "outside.errors", "outside_errors_total",
		    "Readings that ended with an error."),
	COUNTER_SUM(struct outside_stats, refused, "outside.refused", "outside_refused_total",
		    "JVMs that there was no room for."),
};

const struct counters outside_counters = COUNTERS(struct outside_stats, counters);
