// SPDX-License-Identifier: Apache-2.0
/*
 * Probes as a source, see source.h: kinds alloc, live, lock and exceptions. Their samples come with
 * the sampler's ring buffers.
 *
 * The begin of a wait for a monitor is kept until its end (probes/lock_waits.h), and with is_live
 * an allocation until its object has died (probes/live_samples.h).
 */
#include "recording/recording.h"

#include "base/cleanup.h"
#include "probes/probe_sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WAITS_A_TURN 512

struct source_probes {
	struct sample_source source;
	struct sampler *sampler; /* borrowed */
	struct probe_arms *arms;
	struct lock_waits *locks;  /* NULL: waits for locks are not asked for */
	struct live_samples *live; /* NULL: living objects are not asked for */
};

static struct source_probes *of(struct sample_source *source)
{
	return (struct source_probes *)source;
}

static void want_samples(struct sampler *sampler, const struct source_wanted *wanted)
{
	const size_t n = wanted->n;
	_cleanup_free_ uint64_t *sorted = malloc((n + 1) * sizeof(*sorted));

	if (!sorted)
		return; /* those that were wanted stay so */
	memcpy(sorted, wanted->groups, n * sizeof(*sorted));
	sampler_want_probes(sampler, wanted->pids, wanted->groups, n,
			    owner_count_groups(sorted, n));
}

static void want(struct sample_source *source, const struct recording_context *context,
		 const struct source_wanted *wanted)
{
	struct source_probes *const probes = of(source);
	struct probe_arms_stats stats;

	want_samples(probes->sampler, wanted);
	probe_arms_want(probes->arms, context->model->tables, wanted->processes, wanted->n,
			wanted->now_ns, context->recording->end_ns);
	probe_arms_stats(probes->arms, &stats);
	/* Events of JVMs are being opened: what the JVMs do until then is not seen. */
	if (stats.fresh > 0)
		recording_hurry(context->recording, wanted->now_ns);
}

static const struct sample_kind *second_kind(const struct named_sample *sample)
{
	return sample->kind == &sample_kind_alloc  ? &sample_kind_objects
	       : sample->kind == &sample_kind_live ? &sample_kind_live_objects
	       : sample->kind == &sample_kind_lock ? &sample_kind_contentions
						   : NULL;
}

/* Keeps both values of a sample that has two: each like a sample of its own. */
static void keep_values(struct recording *recording, const struct named_sample *sample)
{
	const struct sample_kind *const kind = second_kind(sample);
	struct named_sample second = *sample;

	recording_keep(recording, sample);
	if (!kind)
		return;
	second.kind = kind;
	second.values[0] = sample->values[1];
	recording_keep_more(recording, &second);
}

/* Takes what has no stack: ends of waits, and deaths of objects. */
static void take_event(struct source_probes *probes, const struct source_sample *sample)
{
	struct recording_samples *const counts = &sample->context->recording->samples;
	const struct record *const record = sample->record;
	struct named_sample named;

	if (record->sample.kind == SAMPLE_OF_DEAD) {
		counts->live++;
		if (probes->live)
			live_samples_end(probes->live, record);
		return;
	}
	counts->waits++;
	if (probes->locks && lock_waits_end(probes->locks, record, sample->process, &named))
		keep_values(sample->context->recording, &named);
}

static enum source_verdict take(struct sample_source *source, struct source_sample *sample)
{
	struct recording_samples *const counts = &sample->context->recording->samples;
	const struct source_probes *const probes = of(source);
	uint64_t values[SAMPLE_MAX_VALUES];

	if (source->events >> sample->record->sample.kind & 1) {
		take_event(of(source), sample);
		return SOURCE_TAKEN;
	}
	if (probe_arms_spans_pause(probes->arms, sample->record)) {
		counts->parked++;
		return SOURCE_TAKEN;
	}
	sample->changed = *sample->record;
	sample->changed.sample.weight = probe_arms_weight(probes->arms, sample->record);
	sample->record = &sample->changed;
	if (probe_sample_values(sample->record, values))
		return SOURCE_NAMES;
	counts->senseless++;
	return SOURCE_TAKEN;
}

static void keep(struct sample_source *source, const struct source_sample *sample,
		 struct named_sample *named)
{
	struct recording_samples *const counts = &sample->context->recording->samples;
	const struct record *const record = sample->record;
	const struct source_probes *const probes = of(source);

	if (!named->kind) {
		counts->parked++;
	} else if (record->sample.kind == SAMPLE_OF_ALLOC && probes->live) {
		counts->live++;
		live_samples_keep(probes->live, record, named);
	} else if (record->sample.kind != SAMPLE_OF_ENTER) {
		keep_values(sample->context->recording, named);
	} else {
		counts->waits++;
		lock_waits_begin(probes->locks, record, named);
	}
}

static bool is_gone(const void *arg, pid_t pid)
{
	const struct process *const process = targets_find(arg, pid);

	return !process || process->gone_ns;
}

static void count_live(const struct source_probes *probes, struct recording *recording,
		       const struct sampler_stats *sampler)
{
	struct live_samples_stats live;

	live_samples_stats(probes->live, &live);
	recording->counts.live = (struct recording_live){
		.watched = live.kept,
		.dead = live.dead,
		.living = live.given,
		.unwatched = live.unwatched + live.forgotten + sampler->unwatched,
		.left_out = live.left_out,
		.lost = sampler->deaths_lost + recording->hold.dropped,
	};
}

static void count(const struct source_probes *probes, struct recording *recording)
{
	struct lock_waits_stats locks = {0};
	struct sampler_stats sampler;

	sampler_stats(probes->sampler, &sampler);
	if (probes->locks)
		lock_waits_stats(probes->locks, &locks);
	if (probes->live)
		count_live(probes, recording, &sampler);
	recording->counts.probe_lost = sampler.probe_lost;
	recording->counts.probe_merged = sampler.probe_merged;
	recording->counts.parked_elsewhere = recording->samples.parked;
	recording->counts.probe_senseless = recording->samples.senseless;
	recording->counts.lock_waits_left_out = locks.left_out + locks.unmatched + locks.forgotten +
						recording->counts.open_lock_waits;
}

static void advance(struct sample_source *source, const struct recording_context *context,
		    uint64_t until_ns)
{
	(void)until_ns;
	if (of(source)->locks)
		lock_waits_sweep(of(source)->locks, is_gone, context->model->targets);
	count(of(source), context->recording);
}

/*
 * Waits go on at the recording's end: of each the time until then is kept, unless an end may have
 * been lost. Returns whether all have been looked at.
 */
static bool keep_waits(const struct source_probes *probes, const struct recording_context *context)
{
	struct recording *const recording = context->recording;
	const bool is_sure = recording->counts.probe_lost == 0 && recording->hold.dropped == 0;
	struct named_sample sample;

	for (int i = 0; i < WAITS_A_TURN; i++) {
		if (!probes->locks ||
		    !lock_waits_next_open(probes->locks, recording->end_ns - 1, &sample))
			return true;
		sample.process = targets_find(context->model->targets, sample.pid);
		if (is_sure && sample.process && !sample.process->gone_ns)
			keep_values(recording, &sample);
		else
			recording->counts.open_lock_waits++;
	}
	return false;
}

/* Keeps the samples of objects that live. Returns whether all have been looked at. */
static bool keep_live(const struct source_probes *probes, const struct recording_context *context)
{
	struct named_sample sample;
	struct process *process;
	uint64_t start_ticks;

	for (int i = 0; i < WAITS_A_TURN; i++) {
		if (!probes->live || !live_samples_next(probes->live, &sample, &start_ticks))
			return true;
		process = targets_find(context->model->targets, sample.pid);
		if (process && process->start_ticks == start_ticks)
			sample.process = process;
		keep_values(context->recording, &sample);
	}
	return false;
}

static bool end(struct sample_source *source, const struct recording_context *context)
{
	const struct source_probes *const probes = of(source);
	const bool is_done = keep_waits(probes, context) && keep_live(probes, context);

	count(probes, context->recording);
	return is_done;
}

static void status(const struct sample_source *source, struct recording_status *ret)
{
	probe_arms_stats(((const struct source_probes *)source)->arms, &ret->probes);
}

static size_t bytes(const struct sample_source *source)
{
	const struct source_probes *const probes = (const struct source_probes *)source;

	return (probes->locks ? lock_waits_bytes(probes->locks) : 0) +
	       (probes->live ? live_samples_bytes(probes->live) : 0);
}

static void free_source(struct sample_source *source)
{
	probe_arms_free(of(source)->arms);
	lock_waits_free(of(source)->locks);
	live_samples_free(of(source)->live);
	free(source);
}

static const struct sample_source_ops ops = {
	.want = want,
	.take = take,
	.keep = keep,
	.advance = advance,
	.end = end,
	.status = status,
	.bytes = bytes,
	.free = free_source,
};

int source_probes_add(const struct recording_context *context)
{
	struct recording *const recording = context->recording;
	const struct recording_options *const options = &recording->options;
	const unsigned kinds = recording_kinds(options);
	struct source_probes *probes;
	int err = 0;

	if (!recording_has_probes(options))
		return 0;
	probes = calloc(1, sizeof(*probes));
	if (!probes)
		return -ENOMEM;
	probes->sampler = recording->sampler;
	probes->source =
		(struct sample_source){.ops = &ops,
				       .samples = 1u << SAMPLE_OF_ALLOC | 1u << SAMPLE_OF_ENTER |
						  1u << SAMPLE_OF_PARK | 1u << SAMPLE_OF_EXCEPTION,
				       .events = 1u << SAMPLE_OF_ENTERED | 1u << SAMPLE_OF_DEAD,
				       .bare = 1u << SAMPLE_OF_ENTERED | 1u << SAMPLE_OF_DEAD,
				       .is_told = true};
	if (kinds & PROBES_OF_LOCK)
		err = lock_waits_new(&probes->locks);
	if (!err && options->probes.is_live)
		err = live_samples_new(&probes->live);
	if (!err)
		err = probe_arms_new(&options->probes, kinds, recording->sampler, &probes->arms);
	if (err) {
		free_source(&probes->source);
		return err;
	}
	sample_source_append(&recording->sources, &probes->source);
	return 0;
}
