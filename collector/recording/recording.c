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

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURN_NS		(20 * CLOCK_NS_PER_MS) /* limit of a turn; agents and clients come next */
#define DEEP_NS		CLOCK_NS_PER_SEC
#define READ_NS		(20 * CLOCK_NS_PER_MS) /* of the mappings of a process */
#define TREE_NODE_BYTES 64		       /* with its part of the index */

/*
 * Notes who is to be discovered. Later turns do that, because the files of thousands of processes
 * take more time than a turn has. Without memory nobody is noted: files are then opened when a
 * sample needs them.
 */
void recording_note_undiscovered(struct recording *recording, const struct recording_model *model)
{
	const struct targets *const targets = model->targets;
	const struct process *process;
	size_t pos = 0;

	recording->undiscovered =
		calloc(targets->processes.count + 1, sizeof(*recording->undiscovered));
	while (recording->undiscovered && (process = targets_next(targets, &pos)))
		recording->undiscovered[recording->n_undiscovered++] = process->pid;
}

void recording_discover_some(struct recording *recording, struct recording_model *model)
{
	for (int i = 0; i < RECORDING_DISCOVERIES && recording->n_undiscovered > 0; i++) {
		const pid_t pid = recording->undiscovered[--recording->n_undiscovered];
		struct process *const process = targets_find(model->targets, pid);

		if (process)
			recording_discover(recording, model, process);
	}
	if (recording->n_undiscovered > 0)
		return;
	free(recording->undiscovered);
	recording->undiscovered = NULL;
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
	const bool searches = recording_searches_outside(&recording->options);

	if (searches)
		targets_want_all(model->targets);
	if (recording_needs_survey(&recording->options))
		targets_read_all(model->targets);
	if (searches)
		selections_read_on(&recording->selections, model->targets, READ_NS);
	if (!selector_is_empty(&recording->options.select))
		selections_narrow(&recording->selections, model->targets);
	if (!searches)
		return;
	recording_want_outside(recording, model->targets);
	targets_unwant_all(model->targets);
	recording->asks_names = selector_asks_names(&recording->options.select);
	if (recording->asks_names)
		targets_want_names(model->targets);
	recording->searched_ns = recording->start_ns;
	recording_note_programs(recording, model->targets);
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

int recording_start(const struct recording_options *options, struct recording_model *model,
		    struct sampler *sampler, struct sink *sink, struct recording **ret)
{
	struct recording *const recording = calloc(1, sizeof(*recording));
	const struct recording_context context = {.recording = recording, .model = model};
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
	if (!err && !sink)
		err = make_sinks(recording, model->budget);
	/* Before sampling starts: symbolizer_begin takes long, and samples must not wait. */
	symbolizer_begin(model->symbolizer);
	if (!err)
		err = source_cpu_add(&context);
	recording->start_ns = clock_now_ns();
	recording->end_ns = recording->start_ns + options->duration_ns;
	if (!err)
		err = begin_sinks(recording);
	if (!err)
		err = source_threads_add(&context);
	if (!err)
		err = source_probes_add(&context);
	if (err) {
		recording_free(recording);
		return err;
	}
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
	recording_note_undiscovered(recording, model);
	recording_discover_some(recording, model);
	*ret = recording;
	return 0;
}

void recording_free(struct recording *recording)
{
	if (!recording)
		return;
	if (!recording->sources)
		sampler_close(recording->sampler); /* which no source has taken */
	sample_source_free_all(recording->sources);
	hold_fini(&recording->hold);
	free(recording->undiscovered);
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

void recording_read(struct recording *recording, struct recording_model *model)
{
	const struct recording_context context = {.recording = recording, .model = model};

	if (recording->is_done)
		return;
	recording_search_outside(recording, model, clock_now_ns());
	recording_tell_wanted(recording, model, clock_now_ns());
	recording->has_unread = false;
	for (struct sample_source *s = recording->sources; s; s = s->next) {
		if (s->ops->read)
			recording->has_unread |= s->ops->read(s, &context);
	}
	recording_discover_some(recording, model);
}

/* A sample counts as lost if a sink has no memory for it. */
static bool keep(struct recording *recording, const struct named_sample *named)
{
	const bool is_kept = chain_keep(recording->sinks, named);

	recording->samples.memory_less += !is_kept;
	recording->hold.dropped += !is_kept;
	return is_kept;
}

void recording_keep(struct recording *recording, const struct named_sample *named)
{
	recording->samples.kept += keep(recording, named);
}

void recording_keep_more(struct recording *recording, const struct named_sample *named)
{
	keep(recording, named);
}

static void keep_named(struct sample_source *source, const struct source_sample *sample,
		       struct named_sample *named)
{
	if (source->ops->keep)
		source->ops->keep(source, sample, named);
	else
		recording_keep(sample->context->recording, named);
}

/* The chain of stages: unwind, symbolize, sinks. */
static enum source_verdict name_sample(struct sample_source *source, struct source_sample *sample)
{
	struct recording *const recording = sample->context->recording;
	struct named_sample named;
	bool is_named;

	sample_watch_begin(recording->watch, SAMPLE_TAKE, sample->process, sample->record);
	is_named = recording_name_sample(recording, sample->context->model, sample->process,
					 sample->record, &named);
	if (is_named)
		keep_named(source, sample, &named);
	sample_watch_end(recording->watch, is_named, is_named && named.kind ? &named : NULL);
	for (struct sample_source *s = recording->sources; is_named && s; s = s->next) {
		if (s->ops->kept)
			s->ops->kept(s, recording, &named);
	}
	return is_named ? SOURCE_TAKEN : SOURCE_WAITS;
}

/* False: tables or mappings are missing, and the sample can wait for them. */
static bool take_sample(struct recording *recording, struct recording_model *model,
			const struct record *record)
{
	struct sample_source *const source =
		sample_source_find(recording->sources, record->sample.kind);
	const struct recording_context context = {.recording = recording, .model = model};
	struct source_sample sample = {.context = &context,
				       .process = targets_find(model->targets, record->pid),
				       .record = record};
	const bool is_event = source && source->events >> record->sample.kind & 1;
	enum source_verdict verdict = SOURCE_NAMES;

	if (!source || (!is_event && !recording_wants_sample(recording, sample.process, record))) {
		recording->samples.unwanted++;
		return true;
	}
	if (source->ops->take)
		verdict = source->ops->take(source, &sample);
	if (verdict == SOURCE_NAMES)
		verdict = name_sample(source, &sample);
	return verdict == SOURCE_TAKEN;
}

/*
 * Takes the sample, or leaves the sample in the hold until the tables that it needs are loaded, and
 * the mappings read.
 */
static bool take_or_wait(struct recording *recording, struct recording_model *model,
			 const struct record *record, uint64_t until_ns)
{
	const bool waits = recording_waits_for_tables(recording, model, record, until_ns);
	const uint64_t loads =
		symbolizer_loads(model->symbolizer) + model->targets->foreign.stats.steps;
	const uint64_t put_off = symbolizer_put_off(model->symbolizer);
	bool is_taken = false;

	/* If nothing has been loaded since, the sample would miss the same names and rules. */
	if (!recording->is_waiting || !waits || loads != recording->waiting_since ||
	    (recording->retry_ns && clock_now_ns() >= recording->retry_ns)) {
		table_cache_be_patient(model->tables, waits);
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

static void finish(struct recording *recording)
{
	const struct recording_samples *const samples = &recording->samples;

	recording->is_done = true;
	log_debug("recording %u: of %llu samples %llu were taken, %llu were of others, %llu from "
		  "before or after, %llu waited for tables or mappings",
		  recording->id, (unsigned long long)samples->received,
		  (unsigned long long)samples->kept, (unsigned long long)samples->unwanted,
		  (unsigned long long)samples->untimely,
		  (unsigned long long)recording->counts.waits);
	if (recording->hold.stacks_left_out)
		log_warning("%llu samples had to do without the snapshot of their stack, for all "
			    "that waited were too much: choose a lower -F or a smaller "
			    "--stack-size",
			    (unsigned long long)recording->hold.stacks_left_out);
}

void recording_note_depth(struct recording *recording, uint64_t deep_stacks, uint64_t now_ns)
{
	if (recording->knows_depth && deep_stacks != recording->deep_stacks &&
	    recording->hasty_until_ns < now_ns + DEEP_NS)
		recording->hasty_until_ns = now_ns + DEEP_NS;
	recording->knows_depth = true;
	recording->deep_stacks = deep_stacks;
}

static void advance_sinks(struct recording *recording, uint64_t until_ns)
{
	recording->progress = (struct sink_progress){
		.until_ns = until_ns,
		.lost = recording->lost + recording->hold.dropped,
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

/* Whether the sources have given all records up to the recording's end. */
static bool are_sources_read(const struct recording *recording)
{
	bool is_read = true;

	for (const struct sample_source *s = recording->sources; is_read && s; s = s->next)
		is_read = !s->ops->is_read || s->ops->is_read(s);
	return is_read;
}

static void advance_sources(const struct recording_context *context, uint64_t until_ns)
{
	for (struct sample_source *s = context->recording->sources; s; s = s->next) {
		if (s->ops->advance)
			s->ops->advance(s, context, until_ns);
	}
}

/* Whether no source has anything left to keep. */
static bool end_sources(const struct recording_context *context)
{
	bool is_ended = true;

	for (struct sample_source *s = context->recording->sources; s; s = s->next) {
		if (s->ops->end)
			is_ended &= s->ops->end(s, context);
	}
	return is_ended;
}

uint64_t recording_held_since_ns(const struct recording *recording)
{
	return recording->is_done ? UINT64_MAX : hold_oldest_ns(&recording->hold);
}

/* The time up to which samples have been taken. */
static uint64_t taken_ns(const struct recording *recording, uint64_t until_ns)
{
	const uint64_t held_ns = recording_held_since_ns(recording);

	return held_ns < until_ns ? held_ns : until_ns;
}

static void end_at(struct recording *recording, uint64_t now_ns)
{
	if (now_ns < recording->end_ns)
		recording->end_ns = now_ns;
	for (struct sample_source *s = recording->sources; s; s = s->next) {
		if (s->ops->stop)
			s->ops->stop(s, recording->end_ns);
	}
}

void recording_advance(struct recording *recording, struct recording_model *model, uint64_t now_ns)
{
	const struct recording_context context = {.recording = recording, .model = model};
	const uint64_t until = ripe_ns(recording, model->has_others, now_ns);
	struct unwinder_stats stacks;
	bool is_all;

	if (recording->is_done)
		return;
	is_all = apply_held(recording, model, until);
	unwinder_stats(recording_unwinder(recording, model), &stacks);
	recording_note_depth(recording,
			     stacks.extended + stacks.ends[STACK_SNAPSHOT_ENDED] +
				     stacks.ends[STACK_PAGE_OUT] + stacks.in_heap,
			     now_ns);
	advance_sources(&context, taken_ns(recording, until));
	advance_sinks(recording, is_all ? until : 0);
	if (now_ns < recording->end_ns && is_target_gone(recording, model->targets)) {
		log_info("PID %d%s ended, and so does the recording", (int)recording->options.pid,
			 recording->options.n_more_pids ? " and the others have" : " has");
		end_at(recording, now_ns);
	}
	if (!is_all || until < recording->end_ns || !are_sources_read(recording))
		return;
	if (end_sources(&context))
		finish(recording);
	else
		recording->has_more = true;
}

void recording_stop(struct recording *recording, uint64_t now_ns)
{
	recording->is_stopped = true;
	end_at(recording, now_ns);
}
