// SPDX-License-Identifier: Apache-2.0
/*
 * A recording's time of threads: kinds wall and offcpu, see recording.h.
 *
 * The clock's samples go through the hold as those of the CPU do. One of a thread that does not run
 * is walked and named. One of a thread that has run has no stack, and the time at which it began to
 * run: so it leaves the hold before the thread's samples of the CPU, which get its time
 * (running_time.h). Such a sample is kept twice, once as a sample and once with its part of the
 * time.
 */
#include "recording/recording.h"

#include "base/log.h"
#include "process/namesakes.h"

#include <stdio.h>
#include <string.h>

#define SAMPLES_A_TURN 512

unsigned recording_kinds(const struct recording_options *options)
{
	return options->kinds ? options->kinds : SAMPLES_OF_CPU;
}

bool recording_has_several(const struct recording_options *options)
{
	const unsigned kinds = recording_kinds(options);

	return (kinds & (kinds - 1)) != 0 && kinds != PROBES_OF_ALLOC && kinds != PROBES_OF_LOCK;
}

unsigned recording_wall_hz(const struct recording_options *options)
{
	return options->wall_hz ? options->wall_hz : THREAD_CLOCK_DEFAULT_HZ;
}

bool recording_has_probes(const struct recording_options *options)
{
	return recording_kinds(options) & PROBES_OF_ANY;
}

bool recording_has_time(const struct recording_options *options)
{
	return recording_kinds(options) & (SAMPLES_OF_WALL | SAMPLES_OF_OFFCPU);
}

/* A kind of sizes, and with it the number of things that have the sizes. */
static unsigned with_count(unsigned kind)
{
	switch (kind) {
	case SAMPLES_OF_ALLOC:
		return SAMPLES_OF_ALLOC | SAMPLES_OF_OBJECTS;
	case SAMPLES_OF_LOCK:
		return SAMPLES_OF_LOCK | SAMPLES_OF_CONTENTIONS;
	default:
		return kind;
	}
}

/* The bits of what a word asks for; 0: no such kind. */
static unsigned kind_of_word(const char *word, size_t len)
{
	for (unsigned i = 0; i < SAMPLE_KINDS; i++) {
		const char *const name = sample_kinds[i]->profile->name;

		if (strlen(name) == len && memcmp(name, word, len) == 0)
			return with_count(1u << i);
	}
	return 0;
}

bool recording_needs_survey(const struct recording_options *options)
{
	return !selector_is_empty(&options->select) ||
	       (options->all && recording_has_time(options));
}

unsigned recording_kinds_of(const char *list, char ret_bad[16])
{
	unsigned kinds = 0;

	for (const char *word = list;; word++) {
		const size_t len = strcspn(word, ",");
		const unsigned kind = kind_of_word(word, len);

		if (!kind) {
			snprintf(ret_bad, 16, "%.*s", (int)len, word);
			return 0;
		}
		kinds |= kind;
		word += len;
		if (!*word)
			return kinds;
	}
}

const char *recording_kinds_text(unsigned kinds, char ret[RECORDING_KINDS_BYTES])
{
	size_t n = 0;

	ret[0] = '\0';
	for (unsigned i = 0; i < SAMPLE_KINDS; i++) {
		if (kinds >> i & 1)
			n += (size_t)snprintf(ret + n, RECORDING_KINDS_BYTES - n, "%s%s",
					      n ? "," : "", sample_kinds[i]->profile->name);
	}
	return ret;
}

/* Whether short waits can be told, if they are asked for; says why not. */
static int check_waits(const struct recording_options *options)
{
	char why[BPF_LOAD_WHY_BYTES];
	int err;

	if (!options->waits.is_asked)
		return 0;
	err = wait_source_check(why);
	if (err)
		log_error("--short-waits: %s", why);
	return err;
}

int recording_start_clock(struct recording *recording, const struct budget *budget)
{
	const struct recording_options *const options = &recording->options;
	const struct thread_clock_options clock = {
		.hz = options->wall_hz,
		.stack_bytes = options->stack_bytes,
		.start_ns = recording->start_ns,
		.end_ns = recording->end_ns,
		.source = options->source,
		.stack_pool_bytes = budget ? (size_t)budget->held / 4 : 0,
		.queue_bytes = budget ? (size_t)budget->held / 4 : 0,
		.waits = options->waits,
	};
	const int err = check_waits(options);

	if (err || !recording_has_time(options))
		return err;
	return thread_clock_start(&clock, &recording->clock);
}

struct read_context {
	struct recording *recording;
	struct recording_model *model;
};

static void on_sample(void *arg, const struct record *record)
{
	const struct read_context *const context = arg;

	recording_hear(context->recording, context->model, record);
}

void recording_read_clock(struct recording *recording, struct recording_model *model)
{
	struct read_context context = {.recording = recording, .model = model};

	if (!recording->clock || recording->is_clock_read)
		return;
	recording->has_clock_more =
		thread_clock_read(recording->clock, SAMPLES_A_TURN, on_sample, &context);
	recording->is_clock_read =
		!recording->has_clock_more && thread_clock_is_ended(recording->clock);
}

static void keep(struct recording *recording, const struct named_sample *sample)
{
	if (!chain_keep(recording->sinks, sample)) {
		recording->samples.memory_less++;
		recording->hold.dropped++;
	}
}

static void keep_rest(struct recording *recording, struct recording_model *model,
		      const struct running_stretch *rest)
{
	const struct record record = {.kind = RECORD_SAMPLE,
				      .time_ns = rest->end_ns,
				      .pid = rest->pid,
				      .tid = rest->tid,
				      .sample = {.kind = SAMPLE_OF_WALL,
						 .state = THREAD_RUNNING,
						 .period = rest->end_ns - rest->begin_ns,
						 .weight = rest->us}};
	struct process *const process = targets_find(model->targets, rest->pid);
	struct named_sample sample;

	namesakes_part(model->targets, process);
	chain_name_rest(&recording->options.style, model->symbolizer, process, &record, &sample);
	keep(recording, &sample);
}

void recording_note_run(struct recording *recording, struct recording_model *model,
			const struct record *record)
{
	const struct running_stretch time = {.begin_ns = record->time_ns,
					     .end_ns = record->time_ns + record->sample.period,
					     .us = record->sample.weight,
					     .pid = record->pid,
					     .tid = record->tid};

	recording->samples.running++;
	if (!running_time_add(&recording->running, &time))
		keep_rest(recording, model, &time);
}

void recording_give_run(struct recording *recording, struct named_sample *sample)
{
	const uint64_t us =
		running_time_take(&recording->running, sample->pid, sample->tid, sample->time_ns);

	if (us == 0)
		return;
	sample->kind = &sample_kind_wall;
	sample->state = THREAD_RUNNING;
	sample->values[0] = us;
	keep(recording, sample);
}

void recording_keep_rests(struct recording *recording, struct recording_model *model,
			  uint64_t now_ns, bool is_end)
{
	struct running_stretch rest;

	while (running_time_next_rest(&recording->running, now_ns, is_end, &rest))
		keep_rest(recording, model, &rest);
}

void recording_count_clock(struct recording *recording)
{
	if (recording->clock)
		thread_clock_stats(recording->clock, &recording->counts.clock);
}
