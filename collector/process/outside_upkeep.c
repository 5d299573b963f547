// SPDX-License-Identifier: Apache-2.0
/* Has JVMs without an agent read, and applies what was read, see outside_upkeep.h. */
#include "process/outside_upkeep.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "base/process_stat.h"
#include "process/code_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AGENT_FILE	 "libfgagent.so"
#define LOOK_NS		 UINT64_C(5000000)     /* between two looks whether a step has ended */
#define THREADS_RETRY_NS UINT64_C(30000000000) /* after names of threads could not be read */

static bool is_heard(const struct process *process)
{
	const struct jvm *const jvm = process->jvm;

	return jvm && !jvm->is_outside && jvm->state <= JVM_CURRENT;
}

bool outside_may_read(struct process *process)
{
	return !process->gone_ns && !process->is_replayed && !is_heard(process) &&
	       process_maps_libjvm_now(process);
}

/* ---- when ---- */

static bool is_out(const struct outside_process *outside)
{
	return outside->reader && outside_reader_is_out(outside->reader);
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Whether the JVM has an agent that may connect. */
static bool may_be_heard(const struct process *process)
{
	const bool had_agent = process->jvm && !process->jvm->is_outside;

	return had_agent || process_has_file(process, AGENT_FILE);
}

/*
 * When the process may be read for the first time: an agent is waited for that may come. A forked
 * process has no thread of the agent's that it had as another one.
 */
static uint64_t first_ns(const struct process *process, const struct outside_process *outside,
			 uint64_t now_ns)
{
	const uint64_t young_ns = outside->only_names ? OUTSIDE_NAMES_YOUNG_NS : OUTSIDE_YOUNG_NS;
	uint64_t age_ns;

	if (process_stat_is_forked(process->pid))
		return now_ns;
	if (may_be_heard(process))
		return later_of(now_ns, outside->since_ns + OUTSIDE_PATIENCE_NS);
	age_ns = process_stat_ticks_age_ns(process->start_ticks);
	return age_ns < young_ns ? now_ns + young_ns - age_ns : now_ns;
}

static unsigned share_of(const struct outside_upkeep *upkeep)
{
	return upkeep->share ? upkeep->share : OUTSIDE_SHARE;
}

/* Whether the readings of the process may take processor time beyond their share, to tell all. */
static bool may_go_on(const struct outside_upkeep *upkeep, const struct outside_process *outside,
		      unsigned share, uint64_t now_ns)
{
	const uint64_t at_once_ns = upkeep->at_once_ns ? upkeep->at_once_ns : OUTSIDE_AT_ONCE_NS;

	return outside->took_ns < at_once_ns + (now_ns - outside->since_ns) / share;
}

/*
 * When the process may be read again after a reading that has told all. Readings spend, and their
 * share of the time that goes by pays for it.
 */
static uint64_t spend(const struct outside_upkeep *upkeep, struct outside_process *outside,
		      uint64_t took_ns, uint64_t now_ns)
{
	const uint64_t burst_ns = upkeep->burst_ns ? upkeep->burst_ns : OUTSIDE_BURST_NS;
	const unsigned share = share_of(upkeep);
	const uint64_t paid_ns = (now_ns - outside->spent_at_ns) / share;

	outside->spent_ns -= paid_ns < outside->spent_ns ? paid_ns : outside->spent_ns;
	outside->spent_ns += took_ns;
	outside->spent_at_ns = now_ns;
	return outside->spent_ns < burst_ns ? now_ns
					    : now_ns + share * (outside->spent_ns - burst_ns);
}

/* Sets when the process may be read again, and when it is to be. */
static void set_due(const struct outside_upkeep *upkeep, struct outside_process *outside,
		    const struct outside_told *told, uint64_t now_ns)
{
	const unsigned share = share_of(upkeep);
	const bool has_more = told->told.has_more;
	const bool is_hot =
		outside->sampled_ns && now_ns < outside->sampled_ns + OUTSIDE_SAMPLED_NS;
	uint64_t usual_ns;

	outside->quiet = told->told.has_news ? 0 : outside->quiet + 1;
	usual_ns = is_hot ? outside_process_hot_ns(outside) : OUTSIDE_CALM_NS;
	if (!has_more)
		outside->ready_ns = spend(upkeep, outside, told->took_ns, now_ns);
	else if (may_go_on(upkeep, outside, share, now_ns))
		outside->ready_ns = now_ns;
	else
		outside->ready_ns = now_ns + share * told->took_ns;
	outside->due_ns = later_of(outside->ready_ns, has_more ? now_ns : now_ns + usual_ns);
}

static bool begin(struct process *process, bool only_names, uint64_t now_ns)
{
	struct outside_process *outside = process->outside;

	if (outside)
		return true;
	outside = calloc(1, sizeof(*outside));
	if (!outside)
		return false;
	outside->only_names = only_names;
	outside->since_ns = now_ns;
	outside->due_ns = outside->first_ns = first_ns(process, outside, now_ns);
	process->outside = outside;
	return true;
}

/* Whether a step is under way that waits for long: its memory may not answer. */
static bool is_slow(const struct outside_process *outside, uint64_t now_ns)
{
	return is_out(outside) && now_ns > outside->moved_ns + OUTSIDE_ANSWER_NS;
}

bool outside_is_naming(struct process *process, bool may_go_on, uint64_t now_ns)
{
	const struct outside_process *const outside = process->outside;

	if (process_has_program(process) || process->gone_ns)
		return false;
	if (process->reader)
		return true; /* its mappings will say whether it is a JVM */
	if (!outside_may_read(process))
		return false;
	if (outside && may_go_on && is_slow(outside, now_ns))
		return false;
	return !outside || (!outside->err && !outside->is_late && !outside->is_named &&
			    outside->due_ns <= now_ns + OUTSIDE_ANSWER_NS);
}

/* ---- one step ---- */

/* The mapping by which libjvm is known. */
static bool find_libjvm(const struct process *process, struct vm_image_mapping *ret)
{
	static const char name[] = "/libjvm.so";

	for (size_t i = 0; i < process->space.count; i++) {
		const struct mapping *const mapping = &process->space.mappings[i];
		const size_t len = strlen(mapping->path), name_len = strlen(name);

		if (len < name_len || strcmp(mapping->path + len - name_len, name) != 0)
			continue;
		*ret = (struct vm_image_mapping){mapping->start, mapping->end, mapping->file_off};
		return true;
	}
	return false;
}

/*
 * Says why names are missing. The first error may be that of a JVM that is starting. Of a JVM that
 * is only listed, or may be the one that is asked for, the list says it, and the log does not.
 */
static void say_problem(const struct process *process, uint64_t now_ns)
{
	static struct log_limit limit;
	const struct outside_process *const outside = process->outside;

	if (outside->only_names) {
		log_debug("PID %d is a JVM, and what it runs cannot be read: %s", (int)process->pid,
			  outside_process_problem(outside));
		return;
	}
	if (outside->err == -ESRCH || !log_limit_allows(&limit, process->group, now_ns))
		return;
	log_warning("PID %d is a JVM %s, and %s: %s%s%s%s", (int)process->pid,
		    outside->only_threads ? "with an agent"
		    : outside->is_beside  ? "with code of which its agent cannot tell"
					  : "without an agent",
		    outside->only_threads ? "names that others give its threads are not known"
		    : outside->is_beside  ? "this code has no names"
					  : "its Java code has no names",
		    outside_process_problem(outside), outside->lacks[0] ? " (" : "", outside->lacks,
		    outside->lacks[0] ? ")" : "");
}

static void note_error(struct outside_upkeep *upkeep, struct process *process, int err,
		       uint64_t now_ns)
{
	struct outside_process *const outside = process->outside;
	const unsigned doublings =
		outside->failures < OUTSIDE_RETRIES ? outside->failures : OUTSIDE_RETRIES;

	outside->errors++;
	upkeep->stats.errors++;
	if (outside->only_threads) {
		outside->threads_due_ns = now_ns + THREADS_RETRY_NS;
		return;
	}
	outside->err = err;
	outside->failures++;
	outside->due_ns =
		now_ns +
		((outside->only_names ? OUTSIDE_NAMES_YOUNG_NS : OUTSIDE_RETRY_NS) << doublings);
	if (outside->failures == 2)
		say_problem(process, now_ns);
}

static void start_step(struct outside_upkeep *upkeep, struct process *process, uint64_t now_ns)
{
	struct outside_process *const outside = process->outside;
	struct vm_image_mapping libjvm;
	uint32_t tids[THREAD_NAMES_MAX];
	struct vm_reading_now now = {
		.time_ns = now_ns + (uint64_t)process->clock_offset_ns,
		.inner_pid = (uint32_t)process->inner_pid,
		.only_hello = outside->only_names,
		.only_threads = outside->only_threads,
		.tids = tids,
	};
	int err = 0;

	if (!outside->only_names)
		now.n_tids = process_ask_threads(process, now_ns, tids, THREAD_NAMES_MAX);
	outside->threads_due_ns = now_ns + PROCESS_NAME_AGE_NS;
	if (outside->only_threads && now.n_tids == 0)
		return;

	if (!outside->reader && find_libjvm(process, &libjvm))
		err = outside_reader_new(process->pid, &libjvm, outside->is_beside,
					 &outside->reader);
	if (!err && outside->reader)
		err = outside_reader_start(outside->reader, &now);
	outside->started_ns = outside->moved_ns = now_ns;
	if (err)
		note_error(upkeep, process, err, now_ns);
}

/* The first records are those of a session that begins. */
static bool open_session(struct outside_upkeep *upkeep, const struct outside_host *host,
			 struct process *process, uint64_t now_ns)
{
	if (process->jvm && process->jvm->is_outside && process->jvm->has_hello &&
	    process->outside->stats.steps > 0)
		return true;
	if (!host->take(host->arg, process)) {
		upkeep->stats.refused++;
		return false;
	}
	process_open_session(process, 0, now_ns);
	process->jvm->is_outside = true;
	return true;
}

static void apply_record(struct outside_upkeep *upkeep, const struct outside_host *host,
			 struct process *process, const struct wire_record *record, uint64_t now_ns)
{
	if (process->outside->is_beside) {
		outside_apply_beside(upkeep, host, process, record, now_ns);
		return;
	}
	code_events_apply(process, record, now_ns);
	host->read(host->arg, process, record);
	if (record->kind == WIRE_HELLO)
		host->named(host->arg, process);
}

/* Applies some of what was told. Returns whether that was the rest. */
static bool apply(struct outside_upkeep *upkeep, const struct outside_host *host,
		  struct process *process, uint64_t now_ns)
{
	struct wire_reader *const rest = &process->outside->rest;
	const size_t before = rest->pos;
	struct wire_record record;
	bool is_rest = false;

	do {
		is_rest = wire_reader_next(rest, &record) != 1;
		if (!is_rest)
			apply_record(upkeep, host, process, &record, now_ns);
	} while (!is_rest && clock_now_ns() < upkeep->until_ns);
	host->changed(host->arg, process, rest->pos - before);
	return is_rest;
}

/* Notes of which code a reading can have told. */
static void note_known(struct outside_process *outside, const struct vm_reading_told *told)
{
	struct outside_known *const known = &outside->known;

	memcpy(known->heaps, told->heaps, sizeof(known->heaps));
	known->n_heaps = told->n_heaps;
	if (!told->has_more)
		known->read_ns = outside->started_ns;
}

static void count(struct outside_upkeep *upkeep, struct outside_process *outside,
		  const struct outside_told *told)
{
	upkeep->stats.steps++;
	upkeep->stats.took_ns += told->took_ns;
	upkeep->stats.bytes += told->stats.bytes - outside->stats.bytes;
	upkeep->stats.reads += told->stats.reads - outside->stats.reads;
	upkeep->stats.named += told->stats.named - outside->stats.named;
	upkeep->stats.unnamed += told->stats.unnamed - outside->stats.unnamed;
	upkeep->stats.uninlined += told->stats.uninlined - outside->stats.uninlined;
	upkeep->stats.unlined += told->stats.unlined - outside->stats.unlined;
	upkeep->stats.reused += told->stats.reused - outside->stats.reused;
	upkeep->stats.changed += told->stats.changed - outside->stats.changed;
	upkeep->stats.cut += told->is_cut;
	if (told->stats.left_out > outside->stats.left_out)
		upkeep->stats.left_out += told->stats.left_out - outside->stats.left_out;
	outside->took_ns += told->took_ns;
	outside->reader_bytes = told->bytes;
}

static bool is_gone(struct process *process)
{
	return process_stat_is_gone(process->pid, process->start_ticks, &process->proc_inode);
}

/* What the JVM runs is all that is wanted: the next reader would begin anew. */
static bool take_names(const struct outside_host *host, struct process *process,
		       const struct outside_told *told)
{
	struct outside_process *const outside = process->outside;
	struct wire_reader reader = {.data = told->told.records, .len = told->told.len};
	struct wire_record record;
	struct wire_hello hello;

	if (wire_reader_next(&reader, &record) != 1 || wire_decode_hello(&record, &hello) < 0 ||
	    process_set_program(process, &hello) < 0)
		return false;
	outside->stats = told->stats;
	outside_process_end_reader(outside);
	outside->is_named = true;
	outside->due_ns = UINT64_MAX;
	host->named(host->arg, process);
	host->changed(host->arg, process, reader.len);
	return true;
}

/* Takes what a step has told that ended well. False: there was no room for it. */
static bool take_told(struct outside_upkeep *upkeep, const struct outside_host *host,
		      struct process *process, const struct outside_told *told, uint64_t now_ns)
{
	struct outside_process *const outside = process->outside;

	if (outside->only_names)
		return take_names(host, process, told);
	if (!outside->is_beside && !open_session(upkeep, host, process, now_ns))
		return false;
	outside->told = *told;
	outside->rest = (struct wire_reader){.data = told->told.records, .len = told->told.len};
	outside->is_telling = true;
	return true;
}

/* Goes on to apply what a step has told. Returns whether all of it is applied. */
static bool tell_on(struct outside_upkeep *upkeep, const struct outside_host *host,
		    struct process *process, uint64_t now_ns)
{
	struct outside_process *const outside = process->outside;
	const struct outside_told *const told = &outside->told;

	if (!apply(upkeep, host, process, now_ns))
		return false;
	outside->is_telling = false;
	if (!outside->only_threads) {
		set_due(upkeep, outside, told, now_ns);
		note_known(outside, &told->told);
	}
	if (!outside->is_beside) {
		upkeep->stats.cut_threads +=
			process_count_cut_threads(process, outside->started_ns);
		return true;
	}
	outside->threads_due_ns += share_of(upkeep) * told->took_ns;
	if (!outside->only_threads)
		outside_note_beside(outside, told, now_ns);
	return true;
}

/* Takes what a step has told. A process that has ended may have been read as another by its PID. */
static void take_step(struct outside_upkeep *upkeep, const struct outside_host *host,
		      struct process *process, uint64_t now_ns)
{
	struct outside_process *const outside = process->outside;
	struct outside_told told;
	bool is_taken;

	if (!outside_reader_take(outside->reader, &told))
		return;
	count(upkeep, outside, &told);
	memcpy(outside->lacks, told.told.lacks, sizeof(outside->lacks));
	is_taken =
		!told.err && !is_gone(process) && take_told(upkeep, host, process, &told, now_ns);
	if (!outside->is_named)
		outside->stats = told.stats;
	if (is_taken && !outside->only_threads) {
		outside->err = 0;
		outside->failures = 0;
	} else if (!is_taken) {
		outside_process_end_reader(outside);
		note_error(upkeep, process, told.err ? told.err : -ENOSPC, now_ns);
		outside->ready_ns = spend(upkeep, outside, told.took_ns, now_ns);
		outside->due_ns = later_of(outside->due_ns, outside->ready_ns);
	}
}

/* A step that is at work, or has done something, goes on, however long the machine takes. */
static void note_moves(struct outside_process *outside, uint64_t now_ns)
{
	const unsigned long turns = outside_reader_turns(outside->reader);

	if (turns != outside->turns || turns % 2 == 0)
		outside->moved_ns = now_ns;
	outside->turns = turns;
}

/* Whether a step does not end. */
static bool note_late(struct process *process, uint64_t now_ns)
{
	struct outside_process *const outside = process->outside;
	const bool was_late = outside->is_late;

	if (is_out(outside))
		note_moves(outside, now_ns);
	outside->is_late = is_out(outside) && now_ns > outside->moved_ns + OUTSIDE_LATE_NS;
	if (outside->is_late && !was_late)
		say_problem(process, now_ns);
	return outside->is_late;
}

/* Whether the process has still what it was begun to be read for. */
static bool is_still_read(struct process *process, const struct outside_process *outside)
{
	if (outside->is_beside)
		return outside_process_is_heard(process);
	return outside_may_read(process);
}

/* Whether a step is wanted when it is due. */
static bool wants_step(const struct outside_process *outside, uint64_t now_ns)
{
	if (!outside->is_beside)
		return true;
	return outside->beside.is_asked || (outside->beside.has_told && outside->sampled_ns &&
					    now_ns < outside->sampled_ns + OUTSIDE_SAMPLED_NS);
}

/* When the next step is due, UINT64_MAX: none is. */
static uint64_t next_ns(const struct outside_process *outside, uint64_t now_ns)
{
	const uint64_t code_ns = wants_step(outside, now_ns) ? outside->due_ns : UINT64_MAX;
	const uint64_t threads_ns =
		outside_process_wants_threads(outside) ? outside->threads_due_ns : UINT64_MAX;

	return code_ns < threads_ns ? code_ns : threads_ns;
}

static void end(struct process *process)
{
	outside_process_free(process->outside);
	process->outside = NULL;
}

/* Code is wanted of a JVM of which only the program was. */
static void want_code(const struct process *process, uint64_t now_ns)
{
	struct outside_process *const outside = process->outside;

	if (!outside->only_names || is_out(outside))
		return; /* a step that is under way is of the program */
	outside->only_names = outside->is_named = false;
	outside->due_ns = outside->first_ns = first_ns(process, outside, now_ns);
}

/* Goes on with one process. Returns when there is more to do, UINT64_MAX if there is not. */
static uint64_t step_process(struct outside_upkeep *upkeep, const struct outside_host *host,
			     struct process *process, enum outside_want want, uint64_t now_ns)
{
	const bool only_names = want == OUTSIDE_WANT_NAMES;
	struct outside_process *outside = process->outside;

	if (outside && !is_still_read(process, outside))
		end(process);
	if (!process->outside &&
	    (!outside_may_read(process) || !begin(process, only_names, now_ns)))
		return UINT64_MAX;
	outside = process->outside;
	if (is_out(outside))
		take_step(upkeep, host, process, now_ns);
	if (outside->is_telling && !tell_on(upkeep, host, process, now_ns))
		return now_ns;
	if (!only_names)
		want_code(process, now_ns);
	if (now_ns >= next_ns(outside, now_ns) && !is_out(outside)) {
		outside->only_threads = now_ns < outside->due_ns || !wants_step(outside, now_ns);
		start_step(upkeep, process, now_ns);
	}
	if (note_late(process, now_ns))
		return now_ns + OUTSIDE_HOT_NS;
	if (is_out(outside))
		return now_ns + LOOK_NS;
	return next_ns(outside, now_ns);
}

bool outside_upkeep_ask(struct outside_upkeep *upkeep, struct process *process, uint64_t addr,
			uint64_t time_ns)
{
	const bool was_read = outside_is_read(process);
	const bool may_wait = outside_process_ask(process, addr, time_ns, clock_now_ns());

	if (outside_is_read(process) && !was_read) {
		upkeep->stats.read_now++; /* until a walk through the table has counted */
		upkeep->round_read++;
	}
	if (process->outside && process->outside->beside.is_asked)
		upkeep->next_ns = 0;
	else if (process->outside && process->outside->due_ns < upkeep->next_ns)
		upkeep->next_ns = process->outside->due_ns;
	return may_wait;
}

static bool has_threads_read(const struct process *process)
{
	return process->outside && process->outside->is_beside;
}

void outside_upkeep_step(struct outside_upkeep *upkeep, const struct outside_host *host,
			 const struct map64 *processes, uint64_t now_ns)
{
	const uint64_t most_ns = upkeep->most_ns ? upkeep->most_ns : OUTSIDE_STEP_NS;
	bool has_more = true;

	if (now_ns < upkeep->next_ns)
		return;
	upkeep->until_ns = clock_now_ns() + most_ns;
	if (upkeep->pos == 0) {
		upkeep->round_ns = now_ns + OUTSIDE_LOOK_NS;
		upkeep->round_read = upkeep->round_threads = 0;
	}
	do {
		enum outside_want want;
		uint64_t key, due_ns;
		void *process;

		has_more = map64_next(processes, &upkeep->pos, &key, &process);
		want = has_more ? host->wanted(host->arg, process) : OUTSIDE_WANT_NOTHING;
		if (want == OUTSIDE_WANT_NOTHING)
			continue;
		due_ns = step_process(upkeep, host, process, want, now_ns);
		if (due_ns < upkeep->round_ns)
			upkeep->round_ns = due_ns;
		upkeep->round_read += outside_is_read(process);
		upkeep->round_threads += has_threads_read(process);
	} while (has_more && clock_now_ns() < upkeep->until_ns);
	upkeep->next_ns = has_more ? now_ns : upkeep->round_ns;
	if (has_more)
		return;
	upkeep->pos = 0;
	upkeep->stats.read_now = upkeep->round_read;
	upkeep->threads_now = upkeep->round_threads;
}
