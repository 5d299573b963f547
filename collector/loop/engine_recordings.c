// SPDX-License-Identifier: Apache-2.0
/* The recordings of an engine, and the parts of its loop that read, advance and end them. */
#include "loop/engine.h"

#include "base/clock.h"
#include "base/log.h"
#include "guard/loop_clock.h"
#include "loop/pace.h"

#include <errno.h>
#include <stdio.h>

#define READ_INTERVAL_NS   (100 * CLOCK_NS_PER_MS) /* between reads while something is recorded */
#define HASTY_INTERVAL_NS  (10 * CLOCK_NS_PER_MS)  /* between reads that are urgent */
#define LEAST_INTERVAL_NS  (1 * CLOCK_NS_PER_MS)   /* between reads while a JVM may end */
#define CLIENT_PATIENCE_NS (10 * CLOCK_NS_PER_SEC)

static unsigned count_running(const struct engine *engine)
{
	unsigned n = 0;

	for (const struct recording *r = engine->recordings; r; r = r->next)
		n += !r->is_done;
	return n;
}

/* Whether some JVM is young: it may have ended before it is looked at. */
static bool is_young(const struct engine *engine, const struct recording *r, uint64_t now_ns)
{
	return engine->young_until_ns > now_ns || r->young_until_ns > now_ns;
}

/*
 * Whether reading is urgent: what is sampled may change soon, or may be a program that becomes a
 * JVM.
 */
static bool is_hasty(const struct recording *r, uint64_t now_ns)
{
	return r->hasty_until_ns > now_ns || r->program_young_until_ns > now_ns;
}

/*
 * How long the ring buffers of a recording may wait for the next read. They are read by the clock,
 * because the sampled process would pay for waking a reader.
 */
static uint64_t read_interval_ns(const struct engine *engine, const struct recording *r,
				 uint64_t now_ns)
{
	uint64_t room_ns = sampler_read_ns(r->sampler), interval = READ_INTERVAL_NS;

	if (is_young(engine, r, now_ns))
		interval = pace_wait_ns(engine->took_ns, LEAST_INTERVAL_NS, HASTY_INTERVAL_NS);
	else if (is_hasty(r, now_ns))
		interval = HASTY_INTERVAL_NS;
	if (room_ns < LEAST_INTERVAL_NS)
		room_ns = LEAST_INTERVAL_NS;
	return interval < room_ns ? interval : room_ns;
}

uint64_t engine_recordings_due_ns(const void *arg)
{
	const struct engine *const engine = arg;
	const uint64_t held_ns = count_running(engine) > 1 ? HOLD_NS : HOLD_END_NS;
	const uint64_t now_ns = clock_now_ns();
	uint64_t until = PART_NEVER;

	for (const struct recording *r = engine->recordings; r; r = r->next) {
		const uint64_t done = r->end_ns + held_ns;
		const uint64_t interval = read_interval_ns(engine, r, now_ns);

		if (r->has_more || r->has_unread || (r->n_undiscovered && !r->is_done))
			return 0;
		if (!r->is_done && until > now_ns + interval)
			until = now_ns + interval;
		if (!r->is_done && done > now_ns && until > done)
			until = done; /* the recording's user waits for the end */
	}
	return until;
}

void engine_recordings_read(void *arg)
{
	struct engine *const engine = arg;

	for (struct recording *r = engine->recordings; r; r = r->next)
		recording_read(r, &engine->model);
}

/*
 * Advances recordings up to the time until which agents have been heard. So samples wait until the
 * code that they hit is known, even if this collector did not run for long.
 */
void engine_recordings_advance(void *arg)
{
	struct engine *const engine = arg;
	const uint64_t heard = intake_heard_ns(engine->intake);

	engine->model.has_others = count_running(engine) > 1;
	for (struct recording *r = engine->recordings; r; r = r->next)
		recording_advance(r, &engine->model, heard);
	symbolizer_step(engine->symbolizer); /* names that these samples have */
}

uint64_t engine_recordings_lag_ns(const struct engine *engine, uint64_t heard_ns)
{
	uint64_t oldest_ns = UINT64_MAX;

	for (const struct recording *r = engine->recordings; r; r = r->next) {
		const uint64_t held_ns = recording_held_since_ns(r);

		if (held_ns < oldest_ns)
			oldest_ns = held_ns;
	}
	return engine->recordings ? patience_lag_ns(oldest_ns, heard_ns) : 0;
}

/* Ends recordings whose client is gone. */
void engine_recordings_reap(void *arg)
{
	struct engine *const engine = arg;
	const uint64_t now = loop_clock_now_ns(); /* a client cannot ask while the loop stands */
	struct recording *next;

	for (struct recording *r = engine->recordings; r; r = next) {
		next = r->next;
		if (r->asked_ns && !r->is_being_drawn && now > r->asked_ns + CLIENT_PATIENCE_NS)
			engine_end_recording(engine, r);
	}
}

static void count_recording(struct memory_stats *ret, const struct recording *recording)
{
	ret->held += recording->hold.bytes;
	for (const struct sample_source *s = recording->sources; s; s = s->next)
		ret->held += s->ops->bytes ? s->ops->bytes(s) : 0;
	for (size_t i = 0; i < recording->n_trees; i++) {
		const struct tree_sink *const tree = recording->trees[i];

		ret->trees += profile_bytes(&tree->profile) + timeline_bytes(&tree->timeline) +
			      map64_bytes(&tree->seen.seen);
	}
	if (recording->window)
		ret->windows += window_bytes(&recording->window->window);
	if (recording->watch)
		ret->captures += recording->watch->ops->bytes(recording->watch);
	if (recording->unwinder)
		ret->stacks += unwinder_bytes(recording->unwinder);
}

void engine_recordings_hold(const void *arg, struct memory_stats *ret)
{
	const struct engine *const engine = arg;

	for (const struct recording *r = engine->recordings; r; r = r->next)
		count_recording(ret, r);
}

int engine_start_recording(struct engine *engine, const struct recording_options *options,
			   struct sampler *sampler, struct sink *sink, struct recording **ret)
{
	struct recording *recording;
	char kinds[RECORDING_KINDS_BYTES];
	int err;

	if (engine->n_recordings >= ENGINE_MAX_RECORDINGS) {
		sink_free_all(sink);
		sampler_close(sampler);
		return -EBUSY;
	}
	err = recording_start(options, &engine->model, sampler, sink, &recording);
	if (err)
		return err;
	recording->id = engine->next_id++;
	recording->next = engine->recordings;
	engine->recordings = recording;
	engine->n_recordings++;
	snprintf(engine->sampler, sizeof(engine->sampler), "%s",
		 sampler_source_text(recording->sampler));
	engine->targets.linger_more_ns = PATIENCE_USUAL_NS;
	log_debug("sample: recording %u of %s at %u Hz, snapshots of %u bytes, by %s",
		  recording->id, recording_kinds_text(recording_kinds(options), kinds), options->hz,
		  options->stack_bytes, engine->sampler);
	*ret = recording;
	return 0;
}

int engine_open_sampler(struct engine *engine, const struct recording_options *options, int wake_fd,
			struct sampler_opening **ret)
{
	const struct sampler_options sampler = recording_sampler_options(options, &engine->model);

	symbolizer_begin(engine->symbolizer); /* begins to read the kernel's symbols */
	return sampler_opening_start(&sampler, wake_fd, ret);
}

struct recording *engine_find_recording(const struct engine *engine, uint32_t id)
{
	for (struct recording *r = engine->recordings; r; r = r->next) {
		if (r->id == id)
			return r;
	}
	return NULL;
}

void engine_end_recording(struct engine *engine, struct recording *recording)
{
	struct recording **link = &engine->recordings;

	while (*link && *link != recording)
		link = &(*link)->next;
	if (!*link)
		return;
	*link = recording->next;
	if (--engine->n_recordings == 0)
		engine->targets.linger_more_ns = 0;
	if (recording->options.all) {
		targets_unwant_outside(&engine->targets);
		targets_unwant_all(&engine->targets);
	}
	recording_unwant_outside(recording, &engine->targets);
	if (recording->options.pid > 0)
		targets_unwant(&engine->targets, recording->options.pid);
	for (size_t i = 0; i < recording->options.n_more_pids; i++)
		targets_unwant(&engine->targets, recording->options.more_pids[i]);
	recording_counts_add(&engine->past, &recording->counts);
	engine->held_dropped += recording->hold.dropped;
	recording_free(recording);
}

void engine_recording_counts(const struct engine *engine, struct recording_counts *ret)
{
	*ret = engine->past;
	for (const struct recording *r = engine->recordings; r; r = r->next)
		recording_counts_add(ret, &r->counts);
}
