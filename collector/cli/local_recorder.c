// SPDX-License-Identifier: Apache-2.0
/*
 * Records in this process, see recorder.h: the socket is opened, agents that run already dial
 * within a second, and recording begins when those that are wanted are known.
 */
#include "capture/recording_capture.h"
#include "cli/progress.h"
#include "cli/recorder.h"
#include "inspect/diagnose.h"
#include "inspect/diagnose_names.h"
#include "inspect/diagnose_process.h"
#include "loop/engine.h"
#include "serve/dial_wait.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/process_stat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REDIAL_NS      (1200 * CLOCK_NS_PER_MS) /* agents dial at least once a second */
#define WAIT_NS	       (4000 * CLOCK_NS_PER_MS) /* a little longer, for a busy host */
#define NOBODY_NS      (1000 * CLOCK_NS_PER_MS) /* for the names of others than what is wanted */
#define RESYNC_WAIT_NS (15 * CLOCK_NS_PER_SEC)	/* until the code of wanted JVMs is known */
#define NAMES_NS       (1000 * CLOCK_NS_PER_MS) /* for names of containers that are asked for */
#define LOOK_NS	       (250 * CLOCK_NS_PER_MS) /* between two looks for processes that have begun */
#define STEP_NS	       (200 * CLOCK_NS_PER_MS)

struct local_recorder {
	struct recorder base;
	struct engine engine;
	struct recording *recording;
	const char *socket_path;
};

static struct local_recorder *self(struct recorder *recorder)
{
	return (struct local_recorder *)recorder;
}

/* Counts wanted JVMs that are connected, and among them those whose code is all known. */
static void count_wanted(const struct local_recorder *local,
			 const struct recording_options *options, uint32_t *ret_connected,
			 uint32_t *ret_current)
{
	const struct process *process;
	size_t pos = 0;

	while ((process = targets_next(&local->engine.targets, &pos))) {
		if (!process->jvm || !recording_wants(options, process))
			continue;
		*ret_connected += process->jvm->state <= JVM_CURRENT;
		*ret_current += process->jvm->state == JVM_CURRENT;
	}
}

/* For agents that are wanted, and for all, whose names are said where no wanted one is there. */
struct dial_waits {
	struct dial_wait wanted, all;
};

static bool fits_somebody(struct local_recorder *local, const struct recording_options *options)
{
	return diagnose_targets(options, &local->engine.targets, local->socket_path, NULL) == 0;
}

/*
 * Whether no agent that is wanted has still to dial, or with none of these, none that can be
 * named.
 */
static bool is_everybody_here(struct local_recorder *local, const struct recording_options *options,
			      struct dial_waits *waits, uint64_t waited_ns)
{
	const uint64_t now_ns = clock_now_ns();

	if (!dial_wait_step(&waits->wanted, now_ns))
		return false;
	return waited_ns > NOBODY_NS || fits_somebody(local, options) ||
	       dial_wait_step(&waits->all, now_ns);
}

/* Who is named after the beginning is recorded from then on. */
static bool awaits_names(struct local_recorder *local, const struct recording_options *options)
{
	return selector_needs_names(&options->select) &&
	       targets_await_names(&local->engine.targets, fits_somebody(local, options),
				   clock_now_ns());
}

/* Whether who is found by a name may have ended before others have dialled. */
static bool is_urgent(struct local_recorder *local, const struct recording_options *options)
{
	return selector_asks_names(&options->select) && fits_somebody(local, options) &&
	       diagnose_may_end_soon(options, &local->engine.targets);
}

/* Whether to stop waiting: waiting longer would not change what is recorded. */
static bool is_enough(struct local_recorder *local, const struct recording_options *options,
		      struct dial_waits *waits, uint64_t waited_ns)
{
	const bool is_nobody_missing = is_everybody_here(local, options, waits, waited_ns);
	const bool is_naming = awaits_names(local, options);
	uint32_t connected = 0, current = 0;

	count_wanted(local, options, &connected, &current);
	progress_wait(connected);
	if (options->pid > 0 && !options->n_more_pids && waited_ns < WAIT_NS) {
		const struct process *process = targets_find(&local->engine.targets, options->pid);

		return (process && process->jvm && process->jvm->state == JVM_CURRENT) ||
		       !diagnose_may_connect(options->pid);
	}
	if (current < connected)
		return waited_ns > RESYNC_WAIT_NS;
	if (is_naming && waited_ns <= WAIT_NS)
		return false;
	if (is_nobody_missing || waited_ns > WAIT_NS || is_urgent(local, options))
		return true;
	if (waited_ns < REDIAL_NS)
		return false;
	return options->all || (connected > 0 && fits_somebody(local, options));
}

static uint64_t pause_ns(const struct dial_waits *waits)
{
	return dial_wait_pause_ns(&waits->all, dial_wait_pause_ns(&waits->wanted, STEP_NS / 4));
}

/* Without a daemon nobody knows yet what JVMs without an agent run. */
static void begin_names(struct local_recorder *local)
{
	targets_want_all(&local->engine.targets);
	targets_read_all(&local->engine.targets);
	targets_want_names(&local->engine.targets);
}

static void end_names(struct local_recorder *local)
{
	targets_unwant_names(&local->engine.targets);
	targets_unwant_all(&local->engine.targets);
}

/* Without a sampler nothing tells of processes that begin. Returns when to look for them again. */
static uint64_t look_again(struct local_recorder *local, const struct recording_options *options,
			   uint64_t look_ns)
{
	const uint64_t now_ns = clock_now_ns();

	if (now_ns < look_ns || !selector_asks_names(&options->select))
		return look_ns;
	targets_read_all(&local->engine.targets);
	return now_ns + LOOK_NS;
}

static int wait_for_agents(struct local_recorder *local, const struct recording_options *options)
{
	const uint64_t start = clock_now_ns();
	uint64_t look_ns = start + LOOK_NS;
	const struct recording_options all = {0};
	char why[DIAGNOSE_BYTES];
	struct dial_waits waits;
	int err;

	dial_wait_begin(&waits.wanted, &local->engine, options);
	dial_wait_begin(&waits.all, &local->engine, &all);
	while (!local->engine.is_interrupted &&
	       !is_enough(local, options, &waits, clock_now_ns() - start)) {
		engine_step(&local->engine, pause_ns(&waits));
		look_ns = look_again(local, options, look_ns);
	}
	dial_wait_end(&waits.wanted);
	dial_wait_end(&waits.all);
	if (local->engine.is_interrupted)
		return -EINTR;
	err = diagnose_targets(options, &local->engine.targets, local->socket_path, why);
	if (err)
		log_error("%s", why);
	else if (why[0])
		log_warning("%s", why);
	return err;
}

static int local_start(struct recorder *recorder, const struct recording_options *options)
{
	struct local_recorder *local = self(recorder);
	const char *problem = symbolizer_kernel_problem(local->engine.symbolizer);
	struct sampler_options probe = {
		.event = options->event[0] ? options->event : NULL,
		.hz = options->hz,
		.fallback_pid = options->n_more_pids ? 0 : options->pid,
		.stack_bytes = options->stack_bytes,
	};
	struct recording_options begun = *options;
	struct sampler *sampler;
	char why[DIAGNOSE_BYTES];
	int err;

	/* An error that is certain is reported before any waiting. */
	if (options->pid > 0 && !options->n_more_pids && !diagnose_may_connect(options->pid)) {
		err = diagnose_targets(options, &local->engine.targets, local->socket_path, why);
		if (err) {
			log_error("%s", why);
			return err;
		}
	}
	err = sampler_open(&probe, &sampler);
	if (err)
		return err;
	sampler_close(sampler);
	if (problem)
		log_warning("kernel frames will have no names: %s", problem);
	if (selector_asks_names(&options->select)) {
		begun.last_pid = process_stat_last_pid();
		begin_names(local);
	}
	err = wait_for_agents(local, options);
	if (!err)
		err = engine_start_recording(&local->engine, &begun, NULL, NULL, &local->recording);
	if (selector_asks_names(&options->select))
		end_names(local);
	if (!err && options->has_capture)
		err = recording_capture_start(local->recording, &local->engine.model);
	return err;
}

static int local_status(struct recorder *recorder, struct recording_status *ret)
{
	struct local_recorder *local = self(recorder);

	engine_step(&local->engine, STEP_NS);
	recording_status(local->recording, &local->engine.model, clock_now_ns(), ret);
	return 0;
}

static int local_stop(struct recorder *recorder)
{
	recording_stop(self(recorder)->recording, clock_now_ns());
	return 0;
}

static int local_render(struct recorder *recorder, enum render_format format,
			const struct render_options *options, FILE *stream)
{
	return recording_render(self(recorder)->recording, format, options, stream);
}

static int local_capture(struct recorder *recorder, struct capture_counts *ret)
{
	return recording_capture_end(self(recorder)->recording, clock_now_ns(), ret);
}

static int local_window(struct recorder *recorder, struct recording_status *ret_status,
			struct window_copy *ret)
{
	struct local_recorder *local = self(recorder);

	recording_status(local->recording, &local->engine.model, clock_now_ns(), ret_status);
	return window_copy(&local->recording->window->window, ret);
}

/* What is waited for beside the engine's own work. */
struct readable {
	int fd;
	bool is_ready;
};

static int readable_fd(const void *arg)
{
	const struct readable *const readable = arg;

	return readable->fd;
}

static void note_readable(void *arg)
{
	struct readable *const readable = arg;

	readable->is_ready = true;
}

/* Waits in steps of the engine, because ring buffers must be read many times meanwhile. */
static int local_wait(struct recorder *recorder, int fd, uint64_t wait_ns)
{
	struct engine *engine = &self(recorder)->engine;
	const uint64_t end_ns = clock_now_ns() + wait_ns;
	struct readable readable = {.fd = fd};

	engine_add_part(engine, &(struct part){.stage = TURN_CONTROL,
					       .fd = readable_fd,
					       .ready = note_readable,
					       .arg = &readable});
	for (uint64_t now = clock_now_ns(); now < end_ns; now = clock_now_ns()) {
		engine_step(engine, end_ns - now);
		if (readable.is_ready || engine->is_interrupted)
			break;
	}
	engine_remove_part(engine, &readable);
	return 0;
}

static bool local_is_interrupted(struct recorder *recorder)
{
	return self(recorder)->engine.is_interrupted;
}

static void local_close(struct recorder *recorder)
{
	engine_close(&self(recorder)->engine);
	free(recorder);
}

int recorder_open_local(const struct options *options, struct recorder **ret)
{
	static const struct recorder_ops ops = {
		.start = local_start,
		.status = local_status,
		.stop = local_stop,
		.render = local_render,
		.capture = local_capture,
		.window = local_window,
		.wait = local_wait,
		.is_interrupted = local_is_interrupted,
		.close = local_close,
	};
	const struct engine_options engine = {
		.socket_path = options->socket_path,
		.map_dir = options->map_dir,
		.jitdump_dir = options->jitdump_dir,
		.table_bytes = options->table_bytes,
		.dump = &options->dump,
	};
	struct local_recorder *local = calloc(1, sizeof(*local));
	int err;

	if (!local)
		return -ENOMEM;
	local->base.ops = &ops;
	local->socket_path = options->socket_path;
	err = engine_open(&local->engine, &engine);
	if (err) {
		free(local);
		return err;
	}
	local->engine.outputs.style = options->map_style;
	local->engine.targets.names_wait_ns = NAMES_NS;
	*ret = &local->base;
	return 0;
}
