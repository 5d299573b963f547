// SPDX-License-Identifier: Apache-2.0
/*
 * A recording's way through the stages, see recording.h:
 *
 *   rings -> hold (250 ms) -> mappings, names, exits to the targets;
 *                             samples: unwind -> symbolize -> profile
 *
 * Files are taken hold of before that, when a record of their mapping is read, and loaded by the
 * table cache's thread. A sample whose tables are not there yet stays in the hold, and all behind it
 * with it.
 */
#include "app/recording.h"

#include "app/named_sample.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LABELS	2		       /* process and thread */
#define TURN_NS		(20 * CLOCK_NS_PER_MS) /* then agents and clients have theirs */
#define EXPECTED_FRAMES 16		       /* of a sample, whose files are loaded ahead */

/* Processes that are looked at as they begin, 100 us each: a storm of them is not followed. */
#define BUDGET	  100
#define DEEP_NS	  CLOCK_NS_PER_SEC
#define BUDGET_NS (100 * CLOCK_NS_PER_MS)

/* A JVM's tables will all be wanted, another process's are when a sample hits them. */
void recording_meet(struct recording *recording, struct recording_model *model,
		    struct process *process)
{
	if (!recording_selects(recording, process))
		return;
	for (size_t i = 0; i < process->space.count; i++) {
		if (process->jvm)
			table_cache_expect(model->tables, process->pid,
					   &process->space.mappings[i]);
		else
			table_cache_see(model->tables, process->pid, &process->space.mappings[i]);
	}
}

static void meet_all(struct recording *recording, struct recording_model *model)
{
	struct process *process;
	size_t pos = 0;

	while ((process = targets_next(model->targets, &pos)))
		recording_meet(recording, model, process);
}

/* A container has a host name of its own, which says little to those who read the graph. */
static void read_host(struct recording *recording)
{
	const char *said = getenv("FGCOLLECT_HOST");

	uname(&recording->host);
	recording->host_name = said && said[0] ? said : recording->host.nodename;
}

static void read_boot_id(struct recording *recording)
{
	char *const id = recording->boot_id;

	if (file_read_small("/proc/sys/kernel/random/boot_id", id, sizeof(recording->boot_id)) < 0)
		id[0] = '\0';
	id[strcspn(id, "\n")] = '\0';
}

/* Which container or pod is meant; where several are or none is, all that its name fits. */
static void select_place(struct recording *recording, struct recording_model *model)
{
	if (selector_is_empty(&recording->options.select))
		return;
	if (recording->options.all)
		targets_read_all(model->targets);
	selection_narrow(&recording->selection, model->targets);
}

int recording_start(const struct recording_options *options, struct recording_model *model,
		    struct recording **ret)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	struct sampler_options sampler = {
		.event = options->event[0] ? options->event : NULL,
		.hz = options->hz,
		.fallback_pid = options->pid,
		.stack_bytes = options->stack_bytes,
	};
	int err;

	if (!recording)
		return -ENOMEM;
	recording->options = *options;
	timeline_init(&recording->timeline, 0);
	err = selection_init(&recording->selection, &options->select);
	if (!err)
		err = profile_init(&recording->profile, PROFILE_MAX_NODES);
	if (!err && options->window_seconds)
		err = window_init(&recording->window, clock_now_ns(), options->window_seconds);
	symbolizer_begin(model->symbolizer); /* before: it takes long, and samples must not wait */
	if (!err)
		err = sampler_open(&sampler, &recording->sampler);
	if (err) {
		recording_free(recording);
		return err;
	}
	if (sampler_stack_bytes(recording->sampler) < options->stack_bytes)
		log_warning(
			"so many CPUs: snapshots of stacks have %u bytes, not %u, so that their "
			"rings are not too large",
			sampler_stack_bytes(recording->sampler), options->stack_bytes);
	recording->start_ns = clock_now_ns();
	recording->start_unix_ns = clock_unix_now_ns();
	read_host(recording);
	read_boot_id(recording);
	recording->end_ns = recording->start_ns + options->duration_ns;
	/* Mappings made from here on come as records; those before must be read. */
	if (options->all)
		targets_want_all(model->targets);
	targets_refresh(model->targets);
	select_place(recording, model);
	meet_all(recording, model);
	*ret = recording;
	return 0;
}

void recording_free(struct recording *recording)
{
	if (!recording)
		return;
	sampler_close(recording->sampler);
	hold_fini(&recording->hold);
	map64_fini(&recording->execs);
	seen_jvms_fini(&recording->seen);
	selection_fini(&recording->selection);
	window_fini(&recording->window);
	timeline_fini(&recording->timeline);
	profile_fini(&recording->profile);
	period_free(recording->period);
	free(recording);
}

struct read_context {
	struct recording *recording;
	struct recording_model *model;
};

/* A process that becomes a JVM and may have an agent, of which nothing has been heard so far. */
static bool is_starting(const struct process *process, uint64_t time_ns)
{
	return !process->jvm && process->jvm_mapped_ns &&
	       time_ns <= process->jvm_mapped_ns + RECORDING_YOUNG_NS;
}

/*
 * A JVM that has just begun may have ended before its samples are named. The names of interpreted
 * methods, which can be read only while it is there, are therefore read at once. Of older ones it is
 * the rest of a deep stack, which may have changed by then.
 */
static void look_ahead(const struct recording_model *model, struct process *process,
		       const struct perf_record *record)
{
	static struct stack stack; /* the model's thread only */
	const char *reason;

	if (!process->jvm && !is_starting(process, record->time_ns))
		return;
	if (process->jvm && record->time_ns > process->jvm->opened_ns + RECORDING_YOUNG_NS) {
		unwinder_keep_rest(model->unwinder, process, record->time_ns, &record->sample);
		return;
	}
	table_cache_be_patient(model->tables, true);
	unwinder_look(model->unwinder, process, record->time_ns, &record->sample, &stack);
	for (uint32_t i = 0; i < stack.depth; i++) {
		if (stack.entries[i].method)
			java_methods_find(process, stack.entries[i].method, record->time_ns,
					  &reason);
	}
}

static void expect_file_at(const struct recording_model *model, const struct process *process,
			   uint64_t addr)
{
	const struct mapping *mapping = address_space_find(&process->space, addr);

	if (mapping && mapping->inode != 0)
		table_cache_expect(model->tables, process->pid, mapping);
}

/* The kernel's walk says which files are likely on the stack; they have HOLD_NS to be loaded. */
static void expect_files(const struct recording_model *model, const struct process *process,
			 const struct perf_sample *sample)
{
	uint32_t frames = 0;

	for (uint32_t i = 0; i < sample->chain_len && frames < EXPECTED_FRAMES; i++) {
		if (sample->chain[i] >= PERF_CONTEXT_MAX || (int64_t)sample->chain[i] < 0)
			continue;
		expect_file_at(model, process, sample->chain[i]);
		frames++;
	}
}

/* Whether one more process may be looked at now. */
static bool take_budget(struct recording *recording, uint64_t now_ns)
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

static bool is_libjvm(const struct perf_record *record)
{
	static const char name[] = "/libjvm.so";
	const size_t len = record->kind == PERF_MMAP ? strlen(record->mmap.path) : 0;

	return len >= strlen(name) && strcmp(record->mmap.path + len - strlen(name), name) == 0;
}

/*
 * With all, one that nobody knew yet is read while it is there, else one that becomes a JVM, which
 * may have an agent soon; NULL: not of interest, or gone.
 */
static struct process *find_process(struct recording *recording, struct recording_model *model,
				    const struct perf_record *record)
{
	struct process *process = targets_find(model->targets, record->pid);
	const bool is_new = recording->options.all
				    ? record->kind == PERF_SAMPLE || record->kind == PERF_MMAP
				    : is_libjvm(record);

	if (process || !is_new || record->pid <= 0)
		return process;
	if (record->kind == PERF_MMAP && !take_budget(recording, clock_now_ns()))
		return NULL;
	process = targets_find_or_read(model->targets, record->pid);
	if (process)
		recording_meet(recording, model, process);
	return process;
}

static void see_mapping(struct recording *recording, struct recording_model *model,
			const struct process *process, const struct perf_mmap *mmap)
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

/* What ran in a process before it became one of interest is not of interest. */
static void note_exec(struct recording *recording, const struct perf_record *record)
{
	if (recording->execs.count >= RECORDING_MAX_EXECS)
		map64_fini(&recording->execs);
	/* Without memory, or if it is forgotten, a few samples of a shell are counted as a JVM's. */
	map64_put(&recording->execs, (uint64_t)record->pid, (void *)(uintptr_t)record->time_ns);
}

static bool is_before_exec(const struct recording *recording, const struct perf_record *record)
{
	const uint64_t exec_ns = (uintptr_t)map64_find(&recording->execs, (uint64_t)record->pid);

	return !recording->options.all && record->time_ns < exec_ns;
}

/* Of a process that is known: takes hold of the file, and lets the mapping wait for its time. */
static void hear_mapping(struct recording *recording, struct recording_model *model,
			 struct process *process, const struct perf_record *record)
{
	if (is_libjvm(record)) {
		process->jvm_mapped_ns = record->time_ns;
		if (model->on_jvm)
			model->on_jvm(model->on_jvm_arg, process->pid);
		recording->hasty_until_ns = record->time_ns + RECORDING_YOUNG_NS;
	}
	see_mapping(recording, model, process, &record->mmap);
	hold_add(&recording->hold, record);
}

static void on_lost_mapping(void *arg, const struct perf_record *record)
{
	const struct read_context *context = arg;
	struct process *process = targets_find(context->model->targets, record->pid);

	hear_mapping(context->recording, context->model, process, record);
}

/* The kernel may have had no room to tell of what the sample has hit. */
static void read_lost_mappings(struct recording *recording, struct recording_model *model,
			       struct process *process)
{
	struct read_context context = {.recording = recording, .model = model};
	struct lost_mappings *lost = &recording->lost_mappings;
	const uint64_t now_ns = lost->lost_ns ? clock_now_ns() : 0;

	if (lost->lost_ns && lost_mappings_is_due(lost, process, now_ns))
		lost_mappings_read(lost, process, now_ns, on_lost_mapping, &context);
	recording->counts.reread = lost->reads;
	recording->counts.reread_put_off = lost->put_off;
}

void recording_hear(struct recording *recording, struct recording_model *model,
		    const struct perf_record *record)
{
	struct process *process;

	if (record->kind == PERF_LOST_SIDE)
		lost_mappings_note(&recording->lost_mappings, clock_now_ns());
	if (record->kind == PERF_LOST || record->kind == PERF_LOST_SIDE ||
	    record->kind == PERF_THROTTLED)
		return; /* the sampler counts them */
	recording->counts.heard += record->kind != PERF_SAMPLE;
	process = find_process(recording, model, record);
	if (!process && record->kind == PERF_COMM && record->comm.is_exec)
		note_exec(recording, record);
	/* Samples wait even so: their process may become known while they do. */
	if (!recording->options.all && record->kind != PERF_SAMPLE &&
	    record->kind != PERF_KSYMBOL && !process)
		return;
	if (process && record->kind == PERF_MMAP) {
		hear_mapping(recording, model, process, record);
		return;
	}
	if (process && record->kind == PERF_SAMPLE &&
	    (recording_selects(recording, process) || is_starting(process, record->time_ns))) {
		read_lost_mappings(recording, model, process);
		expect_files(model, process, &record->sample);
		look_ahead(model, process, record);
	}
	hold_add(&recording->hold, record);
}

static void on_record(void *arg, const struct perf_record *record)
{
	const struct read_context *context = arg;

	recording_hear(context->recording, context->model, record);
}

void recording_read(struct recording *recording, struct recording_model *model)
{
	struct read_context context = {.recording = recording, .model = model};

	if (!recording->is_done)
		sampler_read(recording->sampler, on_record, &context);
}

/* Before names are asked for: what is no JVM is wanted with all, what has a PID by that. */
static bool is_of_interest(const struct recording_options *options, const struct process *process)
{
	if (options->pid > 0)
		return process && process->pid == options->pid;
	return options->all || (process && process->jvm);
}

bool recording_selects(struct recording *recording, const struct process *process)
{
	if (!is_of_interest(&recording->options, process))
		return false;
	if (selector_is_empty(&recording->options.select))
		return true;
	return process && selection_wants(&recording->selection, process);
}

bool recording_wants(const struct recording_options *options, const struct process *process)
{
	struct selection selection;
	bool fits;

	if (!is_of_interest(options, process))
		return false;
	if (selector_is_empty(&options->select))
		return true;
	if (!process || selection_init(&selection, &options->select) < 0)
		return false;
	fits = selection_fits(&selection, process);
	selection_fini(&selection);
	return fits;
}

bool recording_wants_sample(struct recording *recording, const struct process *process,
			    const struct perf_record *record)
{
	return record->pid != 0 && recording_selects(recording, process) &&
	       !is_before_exec(recording, record);
}

/* The graph's lowest frames say whose stack it is; written behind the named frames, root last. */
static size_t add_labels(const struct recording *recording, struct symbolizer *symbolizer,
			 struct process *process, const struct perf_record *record,
			 struct frame *ret)
{
	char title[512] = "[gone]", text[600];
	size_t n = 0;

	if (process)
		process_title(process, title, sizeof(title));
	if (recording->options.by_thread) {
		const char *name = process ? process_thread_name(process, record->tid) : "";

		snprintf(text, sizeof(text), "%s", name[0] ? name : "[thread gone]");
		ret[n++] = symbolizer_label(symbolizer, text);
	}
	if (recording->options.by_pid)
		snprintf(text, sizeof(text), "%s-%d", title, (int)record->pid);
	else
		snprintf(text, sizeof(text), "%s", title);
	ret[n++] = symbolizer_label(symbolizer, text);
	return n;
}

static_assert(STACK_ENDS <= PROFILE_REASONS, "samples are counted by how their stack ends");

void recording_judge(const struct stack *stack, const struct symbolizer_verdict *verdict,
		     struct profile_quality *quality)
{
	quality->unnamed_java_samples += !verdict->is_java_named;
	quality->unrooted_samples += !verdict->is_rooted;
	if (stack->depth > 0 && stack->end < STACK_ENDS)
		quality->truncated_samples[stack->end] += !verdict->is_rooted;
}

/* The chain: unwind, symbolize, profile. False: tables are missing, and it is worth waiting. */
static bool take_sample(struct recording *recording, struct recording_model *model,
			const struct perf_record *record)
{
	static struct stack stack; /* the model's thread only; too large for the C stack */
	static struct frame frames[SYMBOLIZER_MAX_FRAMES + MAX_LABELS];
	struct process *process = targets_find(model->targets, record->pid);
	const struct symbolizer_context context = {
		.process = process,
		.time_ns = record->time_ns,
		.names = recording->options.names,
		.cxx_names = recording->options.cxx_names,
		.has_native_lines = recording->options.has_native_lines,
		.cuts_carriers = recording->options.cuts_carriers,
	};
	struct symbolizer_verdict verdict;
	struct named_sample sample = {.process = process,
				      .record = record,
				      .stack = &stack,
				      .verdict = &verdict,
				      .frames = frames};
	size_t n;

	if (!recording_wants_sample(recording, process, record))
		return true;
	if (!unwinder_walk(model->unwinder, process, record->time_ns, &record->sample, &stack))
		return false;
	n = symbolizer_name(model->symbolizer, &context, &stack, frames, &verdict);
	if (verdict.is_waiting)
		return false;
	if (n == 0)
		frames[n++] = (struct frame){.name = "[unknown: no stack]", .kind = FRAME_UNKNOWN};
	n += add_labels(recording, model->symbolizer, process, record, frames + n);
	sample.n_frames = n;
	if (!recording->period && !recording->window.seconds)
		seen_jvms_add(&recording->seen, process);
	named_sample_keep(&sample, recording);
	return true;
}

/* Takes the sample, or leaves it in the hold until the tables that it needs are there. */
static bool take_or_wait(struct recording *recording, struct recording_model *model,
			 const struct perf_record *record, uint64_t until_ns)
{
	const bool is_patient = record->time_ns + RECORDING_PATIENCE_NS > until_ns &&
				recording->hold.bytes < RECORDING_PATIENCE_BYTES;
	const uint64_t loads = table_cache_loads(model->tables);
	const uint64_t put_off = table_cache_put_off(model->tables);
	bool is_taken = false;

	/* Nothing has come since: the sample would miss what it missed before. */
	if (!recording->is_waiting || !is_patient || loads != recording->waiting_since) {
		table_cache_be_patient(model->tables, is_patient);
		is_taken = take_sample(recording, model, record);
	}
	if (is_taken) {
		recording->counts.hurried += table_cache_put_off(model->tables) != put_off;
		recording->is_waiting = false;
		return true;
	}
	recording->counts.waits += !recording->is_waiting;
	recording->is_waiting = true;
	recording->waiting_since = loads;
	hold_put_back(&recording->hold);
	return false;
}

/* False: something waits, or it takes too long for one turn, as when much has waited. */
static bool apply_held(struct recording *recording, struct recording_model *model,
		       uint64_t until_ns)
{
	const uint64_t end_ns = clock_now_ns() + TURN_NS;
	const struct perf_record *record;
	uint64_t last_ns = until_ns;

	if (recording->period && last_ns >= recording->period->end_ns)
		last_ns = recording->period->end_ns - 1;
	recording->has_more = false;
	while ((record = hold_next(&recording->hold, last_ns))) {
		if (record->kind == PERF_KSYMBOL) {
			symbolizer_apply_kernel(model->symbolizer, record);
		} else if (record->kind != PERF_SAMPLE) {
			targets_apply_record(model->targets, record);
		} else if (record->time_ns >= recording->start_ns &&
			   record->time_ns < recording->end_ns) {
			if (!take_or_wait(recording, model, record, until_ns))
				return false;
		}
		if (clock_now_ns() >= end_ns) {
			recording->has_more = true;
			return false;
		}
	}
	return true;
}

/* Nothing more can come when the one process that is recorded has ended. */
static bool is_target_gone(const struct recording *recording, const struct targets *targets)
{
	const struct process *process;

	if (recording->options.pid <= 0)
		return false;
	process = targets_find(targets, recording->options.pid);
	return !process || process->gone_ns;
}

static void finish(struct recording *recording, const struct sampler_stats *stats)
{
	recording->is_done = true;
	sampler_stop(recording->sampler);
	if (stats->throttled)
		log_warning("the kernel throttled sampling %llu times: choose a lower -F",
			    (unsigned long long)stats->throttled);
	if (stats->lost_side)
		log_warning(
			"the kernel had no room for %llu records of processes that began, ended "
			"or mapped files: some of these may have no names",
			(unsigned long long)stats->lost_side);
	if (stats->broken)
		log_warning("%llu records of the kernel could not be read",
			    (unsigned long long)stats->broken);
	if (recording->hold.stacks_left_out)
		log_warning("%llu samples had to do without the snapshot of their stack, for all "
			    "that waited were too much: choose a lower -F or a smaller "
			    "--stack-size",
			    (unsigned long long)recording->hold.stacks_left_out);
	if (stats->lost && stats->is_ring_smaller)
		log_warning("samples were lost in rings of %zu KiB in all, which is as much memory "
			    "as may be locked: raise kernel.perf_event_mlock_kb or ulimit -l, or "
			    "choose a smaller --stack-size",
			    stats->ring_bytes >> 10);
}

void recording_note_depth(struct recording *recording, uint64_t deep_stacks, uint64_t now_ns)
{
	if (recording->knows_depth && deep_stacks != recording->deep_stacks &&
	    recording->hasty_until_ns < now_ns + DEEP_NS)
		recording->hasty_until_ns = now_ns + DEEP_NS;
	recording->knows_depth = true;
	recording->deep_stacks = deep_stacks;
}

/* Up to until_ns all samples are there. */
static void advance_window(struct recording *recording, uint64_t until_ns)
{
	const struct profile_quality *quality = &recording->profile.quality;

	window_advance(&recording->window, until_ns);
	window_note_losses(&recording->window, quality->lost_samples, quality->stackless_samples);
}

void recording_advance(struct recording *recording, struct recording_model *model, uint64_t now_ns)
{
	const uint64_t until = now_ns - HOLD_NS;
	struct unwinder_stats stacks;
	struct sampler_stats stats;
	bool is_all;

	if (recording->is_done)
		return;
	is_all = apply_held(recording, model, until);
	recording->is_period_over =
		is_all && recording->period && until >= recording->period->end_ns;
	unwinder_stats(model->unwinder, &stacks);
	recording_note_depth(recording, stacks.extended + stacks.ends[STACK_SNAPSHOT_ENDED],
			     now_ns);
	sampler_stats(recording->sampler, &stats);
	recording->counts.lost = stats.lost_side;
	recording->profile.quality.lost_samples = stats.lost + recording->hold.dropped;
	recording->profile.quality.stackless_samples = recording->hold.stacks_left_out;
	if (recording->window.seconds)
		advance_window(recording, is_all ? until : 0);
	if (now_ns < recording->end_ns && is_target_gone(recording, model->targets)) {
		log_info("PID %d has ended, and so does the recording",
			 (int)recording->options.pid);
		recording_stop(recording, now_ns);
	}
	if (is_all && until >= recording->end_ns)
		finish(recording, &stats);
}

void recording_stop(struct recording *recording, uint64_t now_ns)
{
	sampler_stop(recording->sampler);
	if (now_ns < recording->end_ns)
		recording->end_ns = now_ns;
}

static void window_status(const struct window *window, struct recording_status *ret)
{
	struct window_copy sums;

	window_sum(window, &sums);
	ret->elapsed_ns = sums.covered_ns;
	ret->samples = sums.quality.samples;
	ret->lost = sums.quality.lost_samples;
	ret->quality = sums.quality;
}

void recording_status(const struct recording *recording, const struct recording_model *model,
		      uint64_t now_ns, struct recording_status *ret)
{
	const struct profile_quality *quality = &recording->profile.quality;
	const uint64_t end = now_ns < recording->end_ns ? now_ns : recording->end_ns;
	const struct process *process;
	size_t pos = 0;

	*ret = (struct recording_status){
		.elapsed_ns = end - recording->start_ns,
		.samples = quality->samples,
		.lost = quality->lost_samples,
		.is_done = recording->is_done,
		.quality = *quality,
	};
	if (recording->window.seconds)
		window_status(&recording->window, ret);
	snprintf(ret->event, sizeof(ret->event), "%s", sampler_event(recording->sampler));
	ret->jvms = (uint32_t)recording->seen.seen.count;
	while ((process = targets_next(model->targets, &pos)))
		ret->jvms += process->jvm && is_of_interest(&recording->options, process) &&
			     selection_fits(&recording->selection, process) &&
			     !seen_jvms_has(&recording->seen, process);
}

void recording_info(const struct recording *recording, uint64_t now_ns, struct profile_info *ret)
{
	const uint64_t end = now_ns < recording->end_ns ? now_ns : recording->end_ns;

	*ret = (struct profile_info){
		.host = recording->host_name,
		.boot_id = recording->boot_id,
		.kernel = recording->host.release,
		.event = sampler_event(recording->sampler),
		.program = "fgcollect " FG_VERSION,
		.hz = recording->options.hz,
		.start_unix_ns = recording->start_unix_ns,
		.duration_ns = end - recording->start_ns,
		.quality = recording->profile.quality,
	};
	for (int i = 0; i < STACK_ENDS; i++)
		ret->reasons[i] = stack_end_name((enum stack_end)i);
}

struct period *recording_steal_period(struct recording *recording, struct period *next)
{
	struct period *const period = recording->period;

	recording->period = next;
	recording->is_period_over = false;
	return period;
}

int recording_render(struct recording *recording, enum render_format format,
		     const struct render_options *options, FILE *stream)
{
	struct render_options all = *options;
	struct profile_info info;

	recording_info(recording, clock_now_ns(), &info);
	timeline_sort(&recording->timeline);
	all.info = &info;
	all.timeline = &recording->timeline;
	return render_write(&recording->profile, format, &all, stream);
}

int recording_write_window(const struct recording *recording, FILE *stream)
{
	struct window_copy copy;
	int err = window_copy(&recording->window, &copy);

	if (!err) {
		const struct render_options options = {.timeline = &copy.timeline};

		err = render_write(&copy.profile, RENDER_RECORDING, &options, stream);
		window_copy_fini(&copy);
	}
	return err;
}
