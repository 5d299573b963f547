// SPDX-License-Identifier: Apache-2.0
/*
 * The clock of threads as a source, see source.h: kinds wall and offcpu.
 *
 * The clock's samples go through the hold as those of the CPU do. One of a thread that does not run
 * is walked and named. One of a thread that has run has no stack, and the time at which it began to
 * run: so it leaves the hold before the thread's samples of the CPU, which get its time
 * (running_time.h). Such a sample is kept twice, once as a sample and once with its part of the
 * time. The stack of who has ended a wait comes in front of the wait.
 */
#include "recording/source_threads.h"

#include "recording/recording.h"

#include "base/log.h"
#include "process/namesakes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_A_TURN 512

static struct source_threads *of(struct sample_source *source)
{
	return (struct source_threads *)source;
}

static bool read_clock(struct sample_source *source, const struct recording_context *context)
{
	struct recording_context to = *context;
	struct source_threads *const threads = of(source);
	bool has_more;

	if (threads->is_read)
		return false;
	has_more = thread_clock_read(threads->clock, SAMPLES_A_TURN, recording_on_record, &to);
	threads->is_read = !has_more && thread_clock_is_ended(threads->clock);
	return has_more;
}

/*
 * Tells the clock of threads that are there for less than a tick, and notes samples of the CPU.
 * Samples of others are not noted: their threads would take the room of those that are recorded.
 */
static void received(struct sample_source *source, struct recording *recording,
		     const struct process *process, const struct record *record)
{
	struct source_threads *const threads = of(source);

	if (record->kind == RECORD_EXIT && process)
		thread_clock_end_thread(threads->clock, record->tid, record->time_ns);
	else if (record->kind == RECORD_FORK && process && recording_selects(recording, process))
		thread_clock_begin_thread(threads->clock, record->pid, record->tid,
					  record->time_ns);
	else if (record->kind == RECORD_SAMPLE && record->sample.kind == SAMPLE_OF_CPU &&
		 recording_selects(recording, process))
		running_time_note_sample(&threads->running, record->pid, record->tid,
					 record->time_ns);
}

static void want(struct sample_source *source, const struct recording_context *context,
		 const struct source_wanted *wanted)
{
	(void)context;
	thread_clock_want(of(source)->clock, wanted->pids, wanted->groups, wanted->n);
}

static void keep_unsampled(const struct recording_context *context,
			   const struct running_stretch *stretch)
{
	const struct record record = {.kind = RECORD_SAMPLE,
				      .time_ns = stretch->end_ns,
				      .pid = stretch->pid,
				      .tid = stretch->tid,
				      .sample = {.kind = SAMPLE_OF_WALL,
						 .state = THREAD_RUNNING,
						 .period = stretch->end_ns - stretch->begin_ns,
						 .weight = stretch->us}};
	struct process *const process = targets_find(context->model->targets, stretch->pid);
	struct recording *const recording = context->recording;
	struct named_sample sample;

	namesakes_part(context->model->targets, process);
	chain_name_unsampled(&recording->options.style, context->model->symbolizer, process,
			     &record, &sample);
	recording_keep_more(recording, &sample);
}

/* A thread has run: its time is for samples of the CPU, which come behind. */
static void note_run(struct source_threads *threads, const struct source_sample *sample)
{
	const struct record *const record = sample->record;
	const struct running_stretch time = {.begin_ns = record->time_ns,
					     .end_ns = record->time_ns + record->sample.period,
					     .us = record->sample.weight,
					     .pid = record->pid,
					     .tid = record->tid};

	sample->context->recording->samples.running++;
	if (!running_time_add(&threads->running, &time))
		keep_unsampled(sample->context, &time);
}

static enum source_verdict take(struct sample_source *source, struct source_sample *sample)
{
	const struct record *const record = sample->record;

	if (record->sample.kind == SAMPLE_OF_WAKER) {
		const bool is_taken =
			recording_take_waker(sample->context->recording, sample->context->model,
					     sample->process, record);

		return is_taken ? SOURCE_TAKEN : SOURCE_WAITS;
	}
	if (record->sample.state != THREAD_RUNNING)
		return SOURCE_NAMES;
	note_run(of(source), sample);
	return SOURCE_TAKEN;
}

/* Gives a thread's time to its sample of the CPU. */
static void kept(struct sample_source *source, struct recording *recording,
		 struct named_sample *named)
{
	uint64_t us;

	if (named->kind != &sample_kind_cpu)
		return;
	us = running_time_take(&of(source)->running, named->pid, named->tid, named->time_ns);
	if (us == 0)
		return;
	named->kind = &sample_kind_wall;
	named->state = THREAD_RUNNING;
	named->values[0] = us;
	recording_keep_more(recording, named);
}

/* Keeps time that ran without a sample; with is_end all that is left. */
static void keep_all_unsampled(struct sample_source *source,
			       const struct recording_context *context, uint64_t now_ns,
			       bool is_end)
{
	struct running_stretch stretch;

	while (running_time_next_unsampled(&of(source)->running, now_ns, is_end, &stretch))
		keep_unsampled(context, &stretch);
}

static void advance(struct sample_source *source, const struct recording_context *context,
		    uint64_t until_ns)
{
	thread_clock_stats(of(source)->clock, &context->recording->counts.clock);
	keep_all_unsampled(source, context, until_ns, false);
}

static void stop(struct sample_source *source, uint64_t end_ns)
{
	thread_clock_stop(of(source)->clock, end_ns);
}

static bool is_read(const struct sample_source *source)
{
	return ((const struct source_threads *)source)->is_read;
}

static bool end(struct sample_source *source, const struct recording_context *context)
{
	keep_all_unsampled(source, context, context->recording->end_ns - 1, true);
	return true;
}

/* Says behind who reads threads whether waits that end are looked at. */
static void put_waits(struct thread_clock *clock, struct recording_status *ret)
{
	char text[THREAD_CLOCK_WHY_BYTES];
	const size_t len = strlen(ret->clock_source);

	thread_clock_waits_text(clock, text);
	if (text[0])
		snprintf(ret->clock_source + len, sizeof(ret->clock_source) - len, ", %s%s",
			 strcmp(text, "BPF") == 0 ? "short waits by " : "no short waits: ", text);
}

static void status(const struct sample_source *source, struct recording_status *ret)
{
	const struct source_threads *const threads = (const struct source_threads *)source;

	ret->wall_hz = threads->hz;
	thread_clock_source_text(threads->clock, ret->clock_source);
	put_waits(threads->clock, ret);
}

static size_t bytes(const struct sample_source *source)
{
	const struct source_threads *const threads = (const struct source_threads *)source;
	struct thread_clock_stats stats;

	thread_clock_stats(threads->clock, &stats);
	return stats.bytes + running_time_bytes(&threads->running);
}

static void free_source(struct sample_source *source)
{
	thread_clock_close(of(source)->clock);
	running_time_fini(&of(source)->running);
	free(source);
}

const struct sample_source_ops source_threads_ops = {
	.read = read_clock,
	.received = received,
	.want = want,
	.take = take,
	.kept = kept,
	.advance = advance,
	.stop = stop,
	.is_read = is_read,
	.end = end,
	.status = status,
	.bytes = bytes,
	.free = free_source,
};

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

int source_threads_add(const struct recording_context *context)
{
	struct recording *const recording = context->recording;
	const struct recording_options *const options = &recording->options;
	const struct budget *const budget = context->model->budget;
	const size_t room = budget ? (size_t)budget->held / 4 : 0;
	const struct thread_clock_options clock = {
		.hz = options->wall_hz,
		.stack_bytes = options->stack_bytes,
		.start_ns = recording->start_ns,
		.end_ns = recording->end_ns,
		.source = options->source,
		.stack_pool_bytes = room,
		.queue_bytes = room,
		.waits = options->waits,
	};
	int err = check_waits(options);
	struct source_threads *threads;

	if (err || !recording_has_time(options))
		return err;
	threads = calloc(1, sizeof(*threads));
	if (!threads)
		return -ENOMEM;
	threads->source = (struct sample_source){.ops = &source_threads_ops,
						 .samples = 1u << SAMPLE_OF_WALL,
						 .events = 1u << SAMPLE_OF_WAKER,
						 .is_told = true};
	threads->hz = recording_wall_hz(options);
	err = thread_clock_start(&clock, &threads->clock);
	if (err) {
		free(threads);
		return err;
	}
	recording->waker = options->waits.has_wakers ? &threads->waker : NULL;
	sample_source_append(&recording->sources, &threads->source);
	return 0;
}
