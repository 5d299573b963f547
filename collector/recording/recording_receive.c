// SPDX-License-Identifier: Apache-2.0
/*
 * Handles a record when it is read, before the record waits in the hold; see recording.h. The
 * process may have ended when the record leaves the hold. So what can be read only from a living
 * process is read here.
 */
#include "recording/recording.h"

#include "base/clock.h"
#include "base/log.h"

#include <string.h>

#define EXPECTED_FRAMES 16 /* frames of a sample whose files are loaded ahead of need */
/*
 * For this time after a stack of a JVM went on in the heap, all its stacks are looked at when they
 * are read.
 */
#define IN_HEAP_NS (10 * CLOCK_NS_PER_SEC)

/*
 * Limit of processes that are read when they begin, which takes 100 us each. When very many begin,
 * some are not read.
 */
#define BUDGET	  100
#define BUDGET_NS (100 * CLOCK_NS_PER_MS)

/*
 * Takes hold of the process's files. All tables of a JVM will be needed; those of another process
 * are needed when a sample hits them.
 */
void recording_discover(struct recording *recording, struct recording_model *model,
			struct process *process)
{
	const bool is_selected = recording_selects(recording, process);

	log_debug("process: PID %d, %s, with %zu mappings, is %s", (int)process->pid, process->comm,
		  process->space.count, is_selected ? "recorded" : "not of this recording");
	if (!is_selected)
		return;
	for (size_t i = 0; i < process->space.count; i++) {
		if (process->jvm)
			table_cache_expect(model->tables, process->pid,
					   &process->space.mappings[i]);
		else
			table_cache_see(model->tables, process->pid, &process->space.mappings[i]);
	}
}

bool recording_is_starting(const struct process *process, uint64_t time_ns)
{
	return !process->jvm && process->jvm_mapped_ns &&
	       time_ns <= process->jvm_mapped_ns + RECORDING_YOUNG_NS;
}

/* Whether only deep stacks of the process are to be looked at before they are walked. */
static bool is_grown(const struct process *process, uint64_t time_ns)
{
	const struct jvm *jvm = process->jvm;

	return jvm && time_ns > jvm->opened_ns + RECORDING_YOUNG_NS &&
	       (!jvm->in_heap_ns || time_ns > jvm->in_heap_ns + IN_HEAP_NS);
}

/*
 * Reads what a later walk of the sample will need. A JVM that has just begun may have ended before
 * its samples are named. So the names of interpreted methods, which can be read only from a living
 * JVM, are read at once. Of an older JVM only the rest of a deep stack, in memory or in the heap,
 * is read, because the rest may have changed by then.
 */
static void walk_ahead(struct recording *recording, const struct recording_model *model,
		       struct process *process, const struct record *record)
{
	enum sample_step step = SAMPLE_LOOK;

	if (!process->jvm && !recording_is_starting(process, record->time_ns))
		return;
	if (is_grown(process, record->time_ns))
		step = SAMPLE_REMAINDER;
	sample_watch_begin(recording->watch, step, process, record);
	table_cache_be_patient(model->tables, true);
	chain_prepare(step, recording_unwinder(recording, model), process, record);
	sample_watch_end(recording->watch, true, NULL);
}

static void expect_file_at(const struct recording_model *model, const struct process *process,
			   uint64_t addr)
{
	const struct mapping *mapping = address_space_find(&process->space, addr);

	if (mapping && mapping->inode != 0)
		table_cache_expect(model->tables, process->pid, mapping);
}

/*
 * Has the files that are likely on the stack loaded within HOLD_NS. The kernel's walk says which
 * files those are.
 */
static void expect_files(const struct recording_model *model, const struct process *process,
			 const struct sample *sample)
{
	const struct sample_chain *const chain = &sample->user;
	uint32_t frames = 0;

	for (uint32_t i = 0; i < chain->len && frames < EXPECTED_FRAMES; i++) {
		if ((int64_t)chain->addrs[i] < 0)
			continue;
		expect_file_at(model, process, chain->addrs[i]);
		frames++;
	}
}

bool recording_take_place(struct recording *recording, uint64_t now_ns)
{
	if (now_ns >= recording->budget_ns) {
		recording->budget_ns = now_ns + BUDGET_NS;
		recording->budget = BUDGET;
	}
	if (recording->budget == 0) {
		recording->counts.unread++;
		return false;
	}
	recording->budget--;
	return true;
}

static bool is_libjvm(const struct record *record)
{
	static const char name[] = "/libjvm.so";
	const size_t len = record->kind == RECORD_MMAP ? strlen(record->mmap.path) : 0;

	return len >= strlen(name) && strcmp(record->mmap.path + len - strlen(name), name) == 0;
}

/*
 * Finds the record's process. An unknown process is read while it exists: with options.all any
 * process, else a process that becomes a JVM and may soon have an agent. NULL: the process is of no
 * interest, or gone.
 */
static struct process *find_process(struct recording *recording, struct recording_model *model,
				    const struct record *record)
{
	struct process *process = targets_find(model->targets, record->pid);
	const bool is_new = recording->options.all
				    ? record->kind == RECORD_SAMPLE || record->kind == RECORD_MMAP
				    : is_libjvm(record);

	if (process || !is_new || record->pid <= 0)
		return process;
	if (record->kind == RECORD_MMAP && !recording_take_place(recording, clock_now_ns()))
		return NULL;
	process = targets_find_or_read(model->targets, record->pid);
	if (process)
		recording_discover(recording, model, process);
	return process;
}

static void see_mapping(struct recording *recording, struct recording_model *model,
			const struct process *process, const struct record_mmap *mmap)
{
	const struct mapping mapping = targets_mapping_of(mmap);

	const bool is_jvm = process->jvm || process->jvm_mapped_ns;

	if (!is_jvm && !recording_selects(recording, process))
		return;
	if (is_jvm)
		table_cache_expect(model->tables, process->pid, &mapping);
	else
		table_cache_see(model->tables, process->pid, &mapping);
}

/*
 * Notes an exec in a process that is not of interest. Samples from before the exec do not belong to
 * the recording, even if the process becomes a JVM. Its next samples may soon show that it becomes
 * a JVM.
 */
static void note_exec(struct recording *recording, const struct record *record)
{
	if (recording->execs.count >= RECORDING_MAX_EXECS)
		map64_fini(&recording->execs);
	/*
	 * Without memory, or if the exec is forgotten, a few samples of a shell are counted as a
	 * JVM's.
	 */
	map64_put(&recording->execs, (uint64_t)record->pid, (void *)(uintptr_t)record->time_ns);
	recording->program_young_until_ns = record->time_ns + RECORDING_PROGRAM_YOUNG_NS;
}

static void receive_exec(struct recording *recording, struct process *process,
			 const struct record *record)
{
	if (process)
		process_read_comm(process);
	else
		note_exec(recording, record);
	if (process || recording->options.all)
		hold_add(&recording->hold, record);
}

void recording_note_jvm(struct recording *recording, const struct recording_model *model,
			struct process *process, uint64_t time_ns)
{
	process->jvm_mapped_ns = time_ns;
	if (recording->sampler)
		sampler_want_one(recording->sampler, process->pid);
	if (model->on_jvm)
		model->on_jvm(model->on_jvm_arg, process->pid);
	recording->young_until_ns = time_ns + RECORDING_YOUNG_NS;
}

/* Handles a mapping of a known process: takes hold of its file, and adds the record to the hold. */
static void receive_mapping(struct recording *recording, struct recording_model *model,
			    struct process *process, const struct record *record)
{
	if (is_libjvm(record))
		recording_note_jvm(recording, model, process, record->time_ns);
	see_mapping(recording, model, process, &record->mmap);
	hold_add(&recording->hold, record);
}

static void on_new_mapping(void *arg, const struct record *record)
{
	const struct recording_context *context = arg;
	struct process *process = targets_find(context->model->targets, record->pid);

	receive_mapping(context->recording, context->model, process, record);
}

bool recording_read_mappings(struct recording *recording, struct recording_model *model,
			     struct process *process, const struct recording_miss *miss)
{
	struct recording_context context = {.recording = recording, .model = model};
	struct mapping_watch *watch = &recording->mappings;
	const uint64_t now_ns = clock_now_ns();
	bool has_found = false;

	if (mapping_watch_is_due(watch, process, miss->time_ns, miss->has_missed, now_ns))
		has_found = mapping_watch_read(watch, process, now_ns, on_new_mapping, &context);
	if (process->reader || process->space_due_ns)
		space_upkeep_spend(&model->targets->spaces, process, clock_now_ns());
	if (watch->reads > recording->counts.reread)
		log_debug("process: the mappings of PID %d are read again, because %s: %s",
			  (int)process->pid,
			  miss->has_missed ? "nothing is known at an address" : "records were lost",
			  has_found ? "there are new ones" : "none is new");
	recording->counts.reread = watch->reads;
	recording->counts.reread_put_off = watch->put_off;
	return has_found;
}

enum mapping_hope recording_seek_mappings(struct recording *recording,
					  struct recording_model *model, struct process *process,
					  uint64_t time_ns)
{
	struct recording_context context = {.recording = recording, .model = model};
	struct mapping_watch *watch = &recording->mappings;
	const uint64_t now_ns = clock_now_ns();
	const enum mapping_hope hope = mapping_watch_hope(watch, process, time_ns, now_ns);

	if (hope != MAPPING_HOPE_NOW)
		return hope;
	mapping_watch_read(watch, process, now_ns, on_new_mapping, &context);
	if (watch->reads > recording->counts.reread)
		log_debug("unwind: a walk in PID %d waits for its mappings to be read again",
			  (int)process->pid);
	recording->counts.reread = watch->reads;
	if (!process->reader && !process->space_due_ns)
		return MAPPING_HOPE_NOW;
	space_upkeep_spend(&model->targets->spaces, process, clock_now_ns());
	return MAPPING_HOPE_LATER;
}

/* Whether an address of the sample's call chain lies in no known mapping and no known code. */
static bool has_missed(const struct process *process, const struct record *record)
{
	const struct sample_chain *const chain = &record->sample.user;
	uint32_t frames = 0;

	for (uint32_t i = 0; i < chain->len && frames < EXPECTED_FRAMES; i++) {
		const uint64_t addr = chain->addrs[i];

		if ((int64_t)addr < 0)
			continue;
		frames++;
		if (!address_space_find(&process->space, addr) &&
		    !(process->code && code_map_find(process->code, addr, record->time_ns)))
			return true;
	}
	return false;
}

/* Reads what has to be known of the process for its sample, while the process exists. */
static void see_sample(struct recording *recording, struct recording_model *model,
		       struct process *process, const struct record *record)
{
	const struct recording_miss miss = {.time_ns = record->time_ns,
					    .has_missed = has_missed(process, record)};
	const struct thread_at thread = {
		.tid = record->tid, .time_ns = record->time_ns, .comm = record->sample.comm};

	process_see_thread(process, &thread);
	outside_upkeep_note_sample(&model->targets->outside, process, clock_now_ns());
	if (process->jvm && process->jvm->has_guests && process->outside &&
	    process->outside->is_beside && !process->outside->beside.was_asked)
		outside_upkeep_ask(&model->targets->outside, process, 0, record->time_ns);
	recording_read_mappings(recording, model, process, &miss);
	expect_files(model, process, &record->sample);
	walk_ahead(recording, model, process, record);
}

/*
 * Handles a sample of a program that began a moment ago. If the program maps libjvm.so, its agent
 * will soon connect, and what the process has so far can be read only now.
 */
static struct process *discover_young(struct recording *recording, struct recording_model *model,
				      const struct record *record)
{
	const uint64_t exec_ns = (uintptr_t)map64_find(&recording->execs, (uint64_t)record->pid);
	struct process *process;

	if (!exec_ns || record->time_ns > exec_ns + RECORDING_PROGRAM_YOUNG_NS ||
	    !recording_take_place(recording, clock_now_ns()) || !process_maps_libjvm(record->pid))
		return NULL;
	process = targets_find_or_read(model->targets, record->pid);
	if (!process)
		return NULL;
	recording_note_jvm(recording, model, process, record->time_ns);
	for (size_t i = 0; i < process->space.count; i++)
		table_cache_expect(model->tables, process->pid, &process->space.mappings[i]);
	return process;
}

void recording_on_record(void *arg, const struct record *record)
{
	const struct recording_context *const context = arg;

	recording_receive(context->recording, context->model, record);
}

void recording_receive(struct recording *recording, struct recording_model *model,
		       const struct record *record)
{
	struct process *process;
	struct record settled;

	dump_record(model->dump, record);
	if (record->kind == RECORD_LOST_SIDE)
		mapping_watch_note_loss(&recording->mappings, clock_now_ns());
	if (record->kind == RECORD_LOST || record->kind == RECORD_LOST_SIDE ||
	    record->kind == RECORD_THROTTLED)
		return; /* the sampler counts them */
	recording->counts.received += record->kind != RECORD_SAMPLE;
	recording->samples.received += record->kind == RECORD_SAMPLE;
	process = find_process(recording, model, record);
	if (record->kind == RECORD_EXEC) {
		receive_exec(recording, process, record);
		return;
	}
	if (!process && record->kind == RECORD_SAMPLE)
		process = discover_young(recording, model, record);
	/* Samples of unknown processes wait too, because the process may become known meanwhile. */
	if (!recording->options.all && record->kind != RECORD_SAMPLE &&
	    record->kind != RECORD_KSYMBOL && !process)
		return;
	if (process && record->kind == RECORD_MMAP) {
		receive_mapping(recording, model, process, record);
		return;
	}
	if (record->kind == RECORD_SAMPLE && record->sample.unread_pages) {
		recording_settle_pages(record, &settled);
		record = &settled;
	}
	for (struct sample_source *s = recording->sources; s; s = s->next) {
		if (s->ops->received)
			s->ops->received(s, recording, process, record);
	}
	if (process && record->kind == RECORD_SAMPLE &&
	    !sample_source_is_bare(recording->sources, record->sample.kind) &&
	    (recording_selects(recording, process) ||
	     recording_is_starting(process, record->time_ns)))
		see_sample(recording, model, process, record);
	hold_add(&recording->hold, record);
}
