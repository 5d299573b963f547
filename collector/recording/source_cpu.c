// SPDX-License-Identifier: Apache-2.0
/*
 * The sampler as a source, see source.h: samples of the CPU, and records of what happens to
 * processes. Its ring buffers have the samples of probes too, which source_probes.c takes.
 */
#include "recording/recording.h"

#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct source_cpu {
	struct sample_source source;
	struct sampler *sampler;
	bool has_ended;
};

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

static struct source_cpu *of(struct sample_source *source)
{
	return (struct source_cpu *)source;
}

static bool read_rings(struct sample_source *source, const struct recording_context *context)
{
	struct recording_context to = *context;

	sampler_read(of(source)->sampler, recording_on_record, &to);
	return false;
}

static void want(struct sample_source *source, const struct recording_context *context,
		 const struct source_wanted *wanted)
{
	(void)context;
	sampler_want(of(source)->sampler, wanted->pids, wanted->n);
}

/* Samples are kept as samples, or with the time that their threads ran. */
static enum source_verdict take(struct sample_source *source, struct source_sample *sample)
{
	struct recording *const recording = sample->context->recording;
	const unsigned kinds = recording_kinds(&recording->options);

	(void)source;
	if (kinds & (SAMPLES_OF_CPU | SAMPLES_OF_WALL))
		return SOURCE_NAMES;
	recording->samples.unwanted++;
	return SOURCE_TAKEN;
}

static void advance(struct sample_source *source, const struct recording_context *context,
		    uint64_t until_ns)
{
	struct recording *const recording = context->recording;
	struct sampler_stats stats;

	(void)until_ns;
	sampler_stats(of(source)->sampler, &stats);
	recording->lost = stats.lost;
	recording->counts.lost = stats.lost_side;
	recording->counts.merged = stats.merged;
	recording->counts.unread_pages = stats.unread;
	recording->counts.unlisted = stats.unlisted;
}

static void stop(struct sample_source *source, uint64_t end_ns)
{
	(void)end_ns;
	sampler_stop(of(source)->sampler);
}

static void warn(const struct sampler_stats *stats)
{
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
	if (stats->lost && stats->is_ring_smaller)
		log_warning("samples were lost in rings of %zu KiB in all, which is as much memory "
			    "as may be locked: raise kernel.perf_event_mlock_kb or ulimit -l, or "
			    "choose a smaller --stack-size",
			    stats->ring_bytes >> 10);
}

static bool end(struct sample_source *source, const struct recording_context *context)
{
	struct source_cpu *const cpu = of(source);
	struct sampler_stats stats;

	(void)context;
	if (cpu->has_ended)
		return true;
	cpu->has_ended = true;
	sampler_stop(cpu->sampler);
	sampler_stats(cpu->sampler, &stats);
	warn(&stats);
	return true;
}

static void status(const struct sample_source *source, struct recording_status *ret)
{
	const struct sampler *const sampler = ((const struct source_cpu *)source)->sampler;

	snprintf(ret->event, sizeof(ret->event), "%s", sampler_event(sampler));
	snprintf(ret->source, sizeof(ret->source), "%s", sampler_source_text(sampler));
}

static size_t bytes(const struct sample_source *source)
{
	return sampler_bytes(((const struct source_cpu *)source)->sampler);
}

static void free_source(struct sample_source *source)
{
	sampler_close(of(source)->sampler);
	free(source);
}

static const struct sample_source_ops ops = {
	.read = read_rings,
	.want = want,
	.take = take,
	.advance = advance,
	.stop = stop,
	.end = end,
	.status = status,
	.bytes = bytes,
	.free = free_source,
};

/* Opens a sampler here if the recording's caller has given none. */
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

int source_cpu_add(const struct recording_context *context)
{
	struct recording *const recording = context->recording;
	const uint32_t wanted_bytes = recording->options.stack_bytes;
	struct source_cpu *const cpu = calloc(1, sizeof(*cpu));
	const int err = cpu ? open_sampler(recording, context->model) : -ENOMEM;

	if (err) {
		sampler_close(recording->sampler);
		recording->sampler = NULL;
		free(cpu);
		return err;
	}
	cpu->sampler = recording->sampler;
	cpu->source = (struct sample_source){.ops = &ops,
					     .samples = 1u << SAMPLE_OF_CPU,
					     .is_told = !recording->options.all &&
							sampler_is_bpf(cpu->sampler)};
	sample_source_append(&recording->sources, &cpu->source);
	recording->mappings.is_told = sampler_follows_all(cpu->sampler);
	if (sampler_stack_bytes(cpu->sampler) < wanted_bytes)
		log_warning(
			"so many CPUs: snapshots of stacks have %u bytes, not %u, so that their "
			"rings are not too large",
			sampler_stack_bytes(cpu->sampler), wanted_bytes);
	return 0;
}
