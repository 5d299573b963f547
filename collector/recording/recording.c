// SPDX-License-Identifier: Apache-2.0
/*
 * A recording's samples on their way through the stages, see recording.h:
 *
 *   ring buffers -> hold (250 ms) -> mappings, names, exits: to the targets;
 *                                    samples: unwind -> symbolize -> sinks
 *
 * When the record of a mapping is read, its file is taken hold of, and the table cache's threads
 * load the file's tables. A sample whose tables are missing stays in the hold, and all later
 * samples with it.
 *
 * One file, because the stages of a sample and the life of a recording share all of its state.
 */
#include "recording/recording.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "probes/probe_sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURN_NS		(20 * CLOCK_NS_PER_MS) /* limit of a turn; agents and clients come next */
#define DEEP_NS		CLOCK_NS_PER_SEC
#define READ_NS		(20 * CLOCK_NS_PER_MS) /* of the mappings of a process */
#define WAITS_A_TURN	512
#define TREE_NODE_BYTES 64 /* with its part of the index */

/*
 * Notes who is to be met. Later turns meet them, because the files of thousands of processes take
 * more time than a turn has. Without memory nobody is noted: files are then opened when a sample
 * needs them.
 */
void recording_note_unmet(struct recording *recording, const struct recording_model *model)
{
	const struct targets *const targets = model->targets;
	const struct process *process;
	size_t pos = 0;

	recording->unmet = calloc(targets->processes.count + 1, sizeof(*recording->unmet));
	while (recording->unmet && (process = targets_next(targets, &pos)))
		recording->unmet[recording->n_unmet++] = process->pid;
}

void recording_meet_some(struct recording *recording, struct recording_model *model)
{
	for (int i = 0; i < RECORDING_MEETINGS && recording->n_unmet > 0; i++) {
		const pid_t pid = recording->unmet[--recording->n_unmet];
		struct process *const process = targets_find(model->targets, pid);

		if (process)
			recording_meet(recording, model, process);
	}
	if (recording->n_unmet > 0)
		return;
	free(recording->unmet);
	recording->unmet = NULL;
}

/*
 * Reads the host's name. In a container FGCOLLECT_HOST says the host's name, because the
 * container's own name says little to readers of the graph.
 */
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

/*
 * Reads all processes if they have to be known, and selects the container or pod that is meant. If
 * several fit the name, or none does, all that ever fit the name are recorded.
 */
static void select_place(struct recording *recording, struct recording_model *model)
{
	const bool looks = recording_looks_outside(&recording->options);

	if (looks)
		targets_want_all(model->targets);
	if (recording_needs_survey(&recording->options))
		targets_read_all(model->targets);
	if (looks)
		selections_read_on(&recording->selections, model->targets, READ_NS);
	if (!selector_is_empty(&recording->options.select))
		selections_narrow(&recording->selections, model->targets);
	if (!looks)
		return;
	recording_want_outside(recording, model->targets);
	targets_unwant_all(model->targets);
	recording->asks_names = selector_asks_names(&recording->options.select);
	if (recording->asks_names)
		targets_want_names(model->targets);
	recording->looked_ns = recording->start_ns;
}

static uint32_t max_nodes(const struct budget *budget)
{
	const uint64_t nodes = budget ? budget->tree / TREE_NODE_BYTES : PROFILE_MAX_NODES;

	return nodes < PROFILE_MAX_NODES ? (uint32_t)nodes : PROFILE_MAX_NODES;
}

void recording_take_budget(struct recording *recording, const struct recording_model *model)
{
	const struct budget *const budget = model->budget;
	const uint32_t nodes = max_nodes(budget);

	recording->hold.max_bytes = (size_t)budget->held;
	for (size_t i = 0; i < recording->n_trees; i++) {
		struct profile *const profile = &recording->trees[i]->profile;
		const uint32_t share = nodes / (uint32_t)recording->n_trees;

		profile->max_nodes = share > profile->count ? share : profile->count;
	}
	if (recording->window) {
		recording->window->max_bytes = budget->tree;
		window_set_max_bytes(&recording->window->window, budget->tree);
	}
	if (recording->watch)
		recording->watch->ops->set_max_bytes(recording->watch, budget->capture);
}

static unsigned count_kinds(unsigned kinds)
{
	unsigned n = 0;

	for (; kinds; kinds &= kinds - 1)
		n++;
	return n;
}

/* A tree for each kind; the first kind is the first sink. */
static int make_trees(struct recording *recording, unsigned kinds, uint32_t nodes)
{
	const bool is_live = recording->options.probes.is_live;
	struct sink **link = &recording->sinks;
	int err = 0;

	for (unsigned i = 0; !err && i < SAMPLE_KINDS; i++) {
		struct tree_sink *tree;

		if (!(kinds >> i & 1))
			continue;
		err = tree_sink_new_of(is_live ? sample_kind_if_live(sample_kinds[i])
					       : sample_kinds[i],
				       nodes, &tree);
		if (err)
			break;
		recording->trees[recording->n_trees++] = tree;
		*link = &tree->sink;
		link = &tree->sink.next;
	}
	return err;
}

/* Makes the sinks if the caller has given none. A window has the first kind alone. */
static int make_sinks(struct recording *recording, const struct budget *budget)
{
	const unsigned seconds = recording->options.window_seconds;
	const unsigned kinds = recording_kinds(&recording->options);
	int err;

	if (!seconds)
		return make_trees(recording, kinds, max_nodes(budget) / count_kinds(kinds));
	err = window_sink_new(sample_kinds[__builtin_ctz(kinds)], seconds, &recording->window);
	if (!err)
		recording->window->max_bytes = budget ? budget->tree : 0;
	recording->sinks = err ? NULL : &recording->window->sink;
	return err;
}

static int begin_sinks(struct recording *recording)
{
	int err = 0;

	for (struct sink *sink = recording->sinks; !err && sink; sink = sink->next)
		err = sink->ops->begin(sink, recording->start_ns);
	return err;
}

/* Of probes alone samples of the CPU tell nothing, but there have to be events. */
static bool needs_cpu(const struct recording_options *options)
{
	return recording_kinds(options) & (SAMPLES_OF_CPU | SAMPLES_OF_WALL | SAMPLES_OF_OFFCPU);
}

struct sampler_options recording_sampler_options(const struct recording_options *options,
						 const struct recording_model *model)
{
	return (struct sampler_options){
		.event = options->event[0] ? options->event : NULL,
		.hz = needs_cpu(options) ? options->hz : 1,
		.fallback_pid = options->n_more_pids ? 0 : options->pid,
		.stack_bytes = options->stack_bytes,
		.source = options->source,
		.max_samples_hz = options->max_samples_hz,
		.follows_all = options->all,
		.follows_threads = recording_has_time(options),
		.has_probes = recording_has_probes(options),
		.wants_watched = options->probes.is_live,
		.worker = model->worker,
	};
}

/* Opens a sampler here if the caller has given none. */
static int open_sampler(struct recording *recording, const struct recording_model *model)
{
	const struct sampler_options options =
		recording_sampler_options(&recording->options, model);

	if (recording->sampler)
		return 0;
	if (model->worker)
		worker_wait(model->worker);
	return sampler_open(&options, &recording->sampler);
}

int recording_start(const struct recording_options *options, struct recording_model *model,
		    struct sampler *sampler, struct sink *sink, struct recording **ret)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	int err;

	if (!recording) {
		sink_free_all(sink);
		sampler_close(sampler);
		return -ENOMEM;
	}
	recording->sampler = sampler;
	recording->options = *options;
	recording->sinks = sink;
	recording->hold.max_bytes = model->budget ? (size_t)model->budget->held : 0;
	err = selections_init(&recording->selections, &options->select);
	if (!err)
		selections_limit(&recording->selections, !options->all);
	if (!err && options->waits.has_wakers) {
		recording->waker = calloc(1, sizeof(*recording->waker));
		err = recording->waker ? 0 : -ENOMEM;
	}
	if (!err && !sink)
		err = make_sinks(recording, model->budget);
	/* Before sampling starts: symbolizer_begin takes long, and samples must not wait. */
	symbolizer_begin(model->symbolizer);
	if (!err)
		err = open_sampler(recording, model);
	recording->start_ns = clock_now_ns();
	recording->end_ns = recording->start_ns + options->duration_ns;
	if (!err)
		err = begin_sinks(recording);
	if (!err)
		err = recording_start_clock(recording, model->budget);
	if (!err && recording_kinds(options) & PROBES_OF_LOCK)
		err = lock_waits_new(&recording->locks);
	if (!err && options->probes.is_live)
		err = live_samples_new(&recording->live);
	if (!err && sampler_has_probes(recording->sampler))
		err = probe_arms_new(&options->probes, recording_kinds(options), recording->sampler,
				     &recording->arms);
	if (err) {
		recording_free(recording);
		return err;
	}
	if (sampler_stack_bytes(recording->sampler) < options->stack_bytes)
		log_warning(
			"so many CPUs: snapshots of stacks have %u bytes, not %u, so that their "
			"rings are not too large",
			sampler_stack_bytes(recording->sampler), options->stack_bytes);
	recording->mappings.is_told = sampler_follows_all(recording->sampler);
	recording->start_unix_ns = clock_unix_now_ns();
	read_host(recording);
	read_boot_id(recording);
	/* The kernel reports later mappings by records. Earlier mappings must be read. */
	if (options->all) {
		targets_want_all(model->targets);
		targets_want_outside(model->targets);
	}
	if (options->pid > 0)
		targets_want(model->targets, options->pid);
	for (size_t i = 0; i < options->n_more_pids; i++)
		targets_want(model->targets, options->more_pids[i]);
	targets_refresh(model->targets);
	select_place(recording, model);
	recording_tell_wanted(recording, model, clock_now_ns());
	recording_note_unmet(recording, model);
	recording_meet_some(recording, model);
	*ret = recording;
	return 0;
}

void recording_free(struct recording *recording)
{
	if (!recording)
		return;
	probe_arms_free(recording->arms);
	lock_waits_free(recording->locks);
	live_samples_free(recording->live);
	sampler_close(recording->sampler);
	thread_clock_close(recording->clock);
	running_time_fini(&recording->running);
	free(recording->waker);
	hold_fini(&recording->hold);
	free(recording->unmet);
	map64_fini(&recording->execs);
	map64_fini(&recording->left_out);
	selections_fini(&recording->selections);
	sink_free_all(recording->sinks);
	if (recording->watch)
		recording->watch->ops->free(recording->watch);
	unwinder_free(recording->unwinder);
	free(recording);
}

struct unwinder *recording_unwinder(const struct recording *recording,
				    const struct recording_model *model)
{
	return recording->unwinder ? recording->unwinder : model->unwinder;
}

struct read_context {
	struct recording *recording;
	struct recording_model *model;
};

static void on_record(void *arg, const struct record *record)
{
	const struct read_context *context = arg;

	recording_hear(context->recording, context->model, record);
}

void recording_read(struct recording *recording, struct recording_model *model)
{
	struct read_context context = {.recording = recording, .model = model};

	if (recording->is_done)
		return;
	recording_look_outside(recording, model, clock_now_ns());
	recording_tell_wanted(recording, model, clock_now_ns());
	sampler_read(recording->sampler, on_record, &context);
	recording_read_clock(recording, model);
	recording_meet_some(recording, model);
}

/* A sample counts as lost if a sink has no memory for it. */
static void keep_sample(struct recording *recording, const struct named_sample *sample)
{
	const bool is_kept = chain_keep(recording->sinks, sample);

	recording->samples.kept += is_kept;
	recording->samples.memory_less += !is_kept;
	recording->hold.dropped += !is_kept;
}

/* The kind of a sample's second value, which is kept like a sample of its own; NULL: none. */
static const struct sample_kind *second_kind(const struct named_sample *sample)
{
	return sample->kind == &sample_kind_alloc  ? &sample_kind_objects
	       : sample->kind == &sample_kind_live ? &sample_kind_live_objects
	       : sample->kind == &sample_kind_lock ? &sample_kind_contentions
						   : NULL;
}

/* Keeps both values of a sample that has two. */
static void keep_values(struct recording *recording, const struct named_sample *sample)
{
	const struct sample_kind *const kind = second_kind(sample);
	struct named_sample second = *sample;

	keep_sample(recording, sample);
	if (!kind)
		return;
	second.kind = kind;
	second.values[0] = sample->values[1];
	if (!chain_keep(recording->sinks, &second)) {
		recording->samples.memory_less++;
		recording->hold.dropped++;
	}
}

/* A wait that was sampled has ended. */
static void take_wait_end(struct recording *recording, struct process *process,
			  const struct record *record)
{
	struct named_sample sample;

	recording->samples.waits++;
	if (recording->locks && lock_waits_end(recording->locks, record, process, &sample))
		keep_values(recording, &sample);
}

/* Takes what a probe has told and named. */
static void take_probe(struct recording *recording, const struct record *record,
		       const struct named_sample *sample)
{
	if (!sample->kind) {
		recording->samples.parked++;
	} else if (record->sample.kind == SAMPLE_OF_ALLOC && recording->live) {
		recording->samples.live++;
		live_samples_keep(recording->live, record, sample);
	} else if (record->sample.kind != SAMPLE_OF_ENTER) {
		keep_values(recording, sample);
	} else {
		recording->samples.waits++;
		lock_waits_begin(recording->locks, record, sample);
	}
}

/*
 * Waits go on at the recording's end: of each the time until then is kept, unless an end may have
 * been lost. Returns whether all have been looked at.
 */
static bool keep_waits(struct recording *recording, const struct targets *targets)
{
	const bool is_sure = recording->counts.probe_lost == 0 && recording->hold.dropped == 0;
	struct named_sample sample;

	for (int i = 0; i < WAITS_A_TURN; i++) {
		if (!recording->locks ||
		    !lock_waits_next_rest(recording->locks, recording->end_ns - 1, &sample))
			return true;
		sample.process = targets_find(targets, sample.pid);
		if (is_sure && sample.process && !sample.process->gone_ns)
			keep_values(recording, &sample);
		else
			recording->counts.lock_rests++;
	}
	return false;
}

/* Keeps the samples of objects that live. Returns whether all have been looked at. */
static bool keep_live(struct recording *recording, const struct targets *targets)
{
	struct named_sample sample;
	struct process *process;
	uint64_t start_ticks;

	for (int i = 0; i < WAITS_A_TURN; i++) {
		if (!recording->live || !live_samples_next(recording->live, &sample, &start_ticks))
			return true;
		process = targets_find(targets, sample.pid);
		if (process && process->start_ticks == start_ticks)
			sample.process = process;
		keep_values(recording, &sample);
	}
	return false;
}

static bool is_gone(const void *arg, pid_t pid)
{
	const struct process *const process = targets_find(arg, pid);

	return !process || process->gone_ns;
}

static void count_live(struct recording *recording, const struct sampler_stats *sampler)
{
	struct live_samples_stats live;

	live_samples_stats(recording->live, &live);
	recording->counts.live = (struct recording_live){
		.watched = live.kept,
		.dead = live.dead,
		.living = live.given,
		.unwatched = live.unwatched + live.forgotten + sampler->unwatched,
		.left_out = live.left_out,
		.lost = sampler->deaths_lost + recording->hold.dropped,
	};
}

static void count_probes(struct recording *recording, const struct sampler_stats *sampler)
{
	struct lock_waits_stats locks = {0};

	if (recording->locks)
		lock_waits_stats(recording->locks, &locks);
	if (recording->live)
		count_live(recording, sampler);
	recording->counts.probe_lost = sampler->probe_lost;
	recording->counts.probe_merged = sampler->probe_merged;
	recording->counts.parked_elsewhere = recording->samples.parked;
	recording->counts.probe_senseless = recording->samples.senseless;
	recording->counts.lock_waits_left_out =
		locks.left_out + locks.unmatched + locks.forgotten + recording->counts.lock_rests;
}

/* Whether samples of the CPU are kept, as samples or with the time that their threads ran. */
static bool wants_cpu(const struct recording *recording)
{
	return recording_kinds(&recording->options) & (SAMPLES_OF_CPU | SAMPLES_OF_WALL);
}

/*
 * The chain of stages: unwind, symbolize, sinks. False: tables or mappings are missing, and the
 * sample can wait for them.
 */
static bool take_sample(struct recording *recording, struct recording_model *model,
			const struct record *record)
{
	struct process *process = targets_find(model->targets, record->pid);
	uint64_t values[SAMPLE_MAX_VALUES];
	struct named_sample sample;
	struct record weighted;
	bool is_named;

	if (record->sample.kind == SAMPLE_OF_WAKER)
		return recording_take_waker(recording, model, process, record);
	if (record->sample.kind == SAMPLE_OF_ENTERED) {
		take_wait_end(recording, process, record);
		return true;
	}
	if (record->sample.kind == SAMPLE_OF_DEAD) {
		recording->samples.live++;
		if (recording->live)
			live_samples_end(recording->live, record);
		return true;
	}
	if (!recording_wants_sample(recording, process, record)) {
		recording->samples.unwanted++;
		return true;
	}
	if (record->sample.kind == SAMPLE_OF_CPU && !wants_cpu(recording)) {
		recording->samples.unwanted++;
		return true;
	}
	if (record->sample.kind == SAMPLE_OF_WALL && record->sample.state == THREAD_RUNNING) {
		recording_note_run(recording, model, record);
		return true;
	}
	if (probe_sample_is(&record->sample)) {
		if (probe_arms_spans_pause(recording->arms, record)) {
			recording->samples.parked++;
			return true;
		}
		weighted = *record;
		weighted.sample.weight = probe_arms_weight(recording->arms, record);
		record = &weighted;
	}
	if (probe_sample_is(&record->sample) && !probe_sample_values(record, values)) {
		recording->samples.senseless++;
		return true;
	}
	sample_watch_begin(recording->watch, SAMPLE_TAKE, process, record);
	is_named = recording_name_sample(recording, model, process, record, &sample);
	if (is_named && probe_sample_is(&record->sample))
		take_probe(recording, record, &sample);
	else if (is_named)
		keep_sample(recording, &sample);
	sample_watch_end(recording->watch, is_named, is_named && sample.kind ? &sample : NULL);
	if (is_named && recording->clock && sample.kind == &sample_kind_cpu)
		recording_give_run(recording, &sample);
	return is_named;
}

/* When held samples take so many bytes, none waits for tables: snapshots would be left out. */
static size_t patience_bytes(const struct recording *recording)
{
	const struct hold *const hold = &recording->hold;

	return (hold->max_bytes ? hold->max_bytes : HOLD_MAX_BYTES) / 16 * 9;
}

/*
 * Takes the sample, or leaves the sample in the hold until the tables that it needs are loaded, and
 * the mappings read.
 */
static bool take_or_wait(struct recording *recording, struct recording_model *model,
			 const struct record *record, uint64_t until_ns)
{
	const uint64_t patience_ns =
		model->is_ending ? RECORDING_LAST_PATIENCE_NS : RECORDING_PATIENCE_NS;
	const bool is_patient = record->time_ns + patience_ns > until_ns &&
				recording->hold.bytes < patience_bytes(recording);
	const uint64_t loads =
		symbolizer_loads(model->symbolizer) + model->targets->foreign.stats.steps;
	const uint64_t put_off = symbolizer_put_off(model->symbolizer);
	bool is_taken = false;

	recording->is_patient = is_patient;
	/* If nothing has been loaded since, the sample would miss the same names and rules. */
	if (!recording->is_waiting || !is_patient || loads != recording->waiting_since ||
	    (recording->retry_ns && clock_now_ns() >= recording->retry_ns)) {
		table_cache_be_patient(model->tables, is_patient);
		recording->retry_ns = 0;
		is_taken = take_sample(recording, model, record);
	}
	if (is_taken) {
		recording->counts.hurried += symbolizer_put_off(model->symbolizer) != put_off;
		recording->is_waiting = false;
		return true;
	}
	recording->counts.waits += !recording->is_waiting;
	recording->is_waiting = true;
	recording->waiting_since = loads;
	hold_put_back(&recording->hold);
	return false;
}

/* The last time up to which all sinks take samples now. */
static uint64_t last_taken_ns(const struct recording *recording, uint64_t until_ns)
{
	for (const struct sink *sink = recording->sinks; sink; sink = sink->next) {
		if (until_ns >= sink->end_ns)
			until_ns = sink->end_ns - 1;
	}
	return until_ns;
}

/*
 * Takes samples from the hold up to until_ns. False: a sample waits for tables, or there are too
 * many samples for one turn.
 */
static bool apply_held(struct recording *recording, struct recording_model *model,
		       uint64_t until_ns)
{
	const uint64_t end_ns = clock_now_ns() + TURN_NS;
	const struct record *record;

	recording->has_more = false;
	while ((record = hold_next(&recording->hold, last_taken_ns(recording, until_ns)))) {
		if (record->kind == RECORD_KSYMBOL) {
			symbolizer_apply_kernel(model->symbolizer, record);
		} else if (record->kind != RECORD_SAMPLE) {
			targets_apply_record(model->targets, record);
		} else if (record->time_ns >= recording->start_ns &&
			   record->time_ns < recording->end_ns) {
			if (!take_or_wait(recording, model, record, until_ns))
				return false;
		} else {
			recording->samples.untimely++;
		}
		if (clock_now_ns() >= end_ns) {
			recording->has_more = true;
			return false;
		}
	}
	return true;
}

static bool is_pid_gone(const struct targets *targets, pid_t pid)
{
	const struct process *const process = targets_find(targets, pid);

	return !process || process->gone_ns;
}

/* Whether all processes that are recorded by PID have ended, so that no more samples can come. */
static bool is_target_gone(const struct recording *recording, const struct targets *targets)
{
	const struct recording_options *const options = &recording->options;
	bool is_gone = options->pid > 0 && is_pid_gone(targets, options->pid);

	for (size_t i = 0; i < options->n_more_pids && is_gone; i++)
		is_gone = is_pid_gone(targets, options->more_pids[i]);
	return is_gone;
}

static void finish(struct recording *recording, const struct sampler_stats *stats)
{
	const struct recording_samples *const samples = &recording->samples;

	recording->is_done = true;
	sampler_stop(recording->sampler);
	log_debug("recording %u: of %llu samples %llu were taken, %llu were of others, %llu from "
		  "before or after, %llu waited for tables or mappings",
		  recording->id, (unsigned long long)samples->heard,
		  (unsigned long long)samples->kept, (unsigned long long)samples->unwanted,
		  (unsigned long long)samples->untimely,
		  (unsigned long long)recording->counts.waits);
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

static void advance_sinks(struct recording *recording, uint64_t until_ns, uint64_t lost)
{
	recording->progress = (struct sink_progress){
		.until_ns = until_ns,
		.lost = lost + recording->hold.dropped,
		.stackless = recording->hold.stacks_left_out,
	};
	for (struct sink *sink = recording->sinks; sink; sink = sink->next)
		sink->ops->advance(sink, &recording->progress);
}

/* The time up to which records have been held long enough, see hold.h. */
static uint64_t ripe_ns(const struct recording *recording, bool has_others, uint64_t now_ns)
{
	const uint64_t end = recording->end_ns, ripe = now_ns - HOLD_NS;

	/* The model must not be ahead of others' samples. */
	return !has_others && now_ns > end && now_ns - end >= HOLD_END_NS && ripe < end ? end
											: ripe;
}

void recording_advance(struct recording *recording, struct recording_model *model, uint64_t now_ns)
{
	const uint64_t until = ripe_ns(recording, model->has_others, now_ns);
	struct unwinder_stats stacks;
	struct sampler_stats stats;
	bool is_all;

	if (recording->is_done)
		return;
	is_all = apply_held(recording, model, until);
	unwinder_stats(recording_unwinder(recording, model), &stacks);
	recording_note_depth(recording,
			     stacks.extended + stacks.ends[STACK_SNAPSHOT_ENDED] +
				     stacks.ends[STACK_PAGE_OUT] + stacks.in_heap,
			     now_ns);
	sampler_stats(recording->sampler, &stats);
	recording->counts.lost = stats.lost_side;
	recording->counts.merged = stats.merged;
	recording->counts.unread_pages = stats.unread;
	recording_count_clock(recording);
	recording_keep_rests(recording, model, until, false);
	recording->counts.unlisted = stats.unlisted;
	if (recording->locks)
		lock_waits_sweep(recording->locks, is_gone, model->targets);
	count_probes(recording, &stats);
	advance_sinks(recording, is_all ? until : 0, stats.lost);
	if (now_ns < recording->end_ns && is_target_gone(recording, model->targets)) {
		log_info("PID %d%s ended, and so does the recording", (int)recording->options.pid,
			 recording->options.n_more_pids ? " and the others have" : " has");
		recording_stop(recording, now_ns);
	}
	if (is_all && until >= recording->end_ns &&
	    (!recording->clock || recording->is_clock_read)) {
		recording_keep_rests(recording, model, recording->end_ns - 1, true);
		if (keep_waits(recording, model->targets) && keep_live(recording, model->targets)) {
			count_probes(recording, &stats);
			finish(recording, &stats);
		} else {
			recording->has_more = true;
		}
	}
}

void recording_stop(struct recording *recording, uint64_t now_ns)
{
	sampler_stop(recording->sampler);
	if (now_ns < recording->end_ns)
		recording->end_ns = now_ns;
	if (recording->clock)
		thread_clock_stop(recording->clock, recording->end_ns);
}
