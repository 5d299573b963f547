// SPDX-License-Identifier: Apache-2.0
/*
 * The parts of an engine's loop, in the order of a turn, see engine.h.
 *
 * One table says of each what wakes the loop for it, when it is due, its step, and what it holds.
 */
#include "loop/engine.h"

#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define MEMORY_INTERVAL_NS (100 * CLOCK_NS_PER_MS) /* between two counts of what shares memory */
#define MESSAGES_A_STEP	   1024
#define HEARD_MUCH_NS	   (CLOCK_NS_PER_MS / 2)

static int signals_fd(const void *arg)
{
	const struct engine *const engine = arg;

	return engine->signal_fd;
}

static void read_signals(void *arg)
{
	struct engine *const engine = arg;
	struct signalfd_siginfo info;

	while (read(engine->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		engine->is_interrupted |= info.ssi_signo != SIGHUP;
		engine->is_hung_up |= info.ssi_signo == SIGHUP;
	}
	if (engine->is_interrupted)
		signal_watch_take(engine->signals);
}

/* What may be done in a turn at most is counted anew. */
static void begin_turn(void *arg)
{
	struct engine *const engine = arg;

	guard_begin_turn(engine->guard);
	containers_begin_turn(&engine->targets.containers);
	space_upkeep_begin_turn(&engine->targets.spaces);
}

/* ---- agents ---- */

static uint64_t dialer_due_ns(const void *arg)
{
	const struct engine *const engine = arg;

	return dialer_next_ns(&engine->dialer);
}

static void dial(void *arg)
{
	struct engine *const engine = arg;

	dialer_step(&engine->dialer, clock_now_ns());
}

static void hold_dialer(const void *arg, struct memory_stats *ret)
{
	const struct engine *const engine = arg;

	ret->agents += dialer_bytes(&engine->dialer);
}

static int agents_fd(const void *arg)
{
	const struct engine *const engine = arg;

	return intake_fd(engine->intake);
}

static uint64_t agents_due_ns(const void *arg)
{
	const struct engine *const engine = arg;
	const uint64_t due_ns = intake_due_ns(engine->intake);

	if (intake_has_more(engine->intake))
		return 0;
	return due_ns ? due_ns : PART_NEVER;
}

/*
 * Meets a JVM whose agent has connected. The JVM's mappings are known. The JVM may end right after.
 */
static void meet(struct engine *engine, pid_t pid)
{
	struct process *process = targets_find(&engine->targets, pid);

	for (struct recording *r = engine->recordings; process && r; r = r->next)
		recording_discover(r, &engine->model, process);
	engine->young_until_ns = clock_now_ns() + RECORDING_YOUNG_NS;
}

static void on_intake(void *arg, const struct intake_event *event)
{
	struct engine *engine = arg;

	dump_event(engine->model.dump, event);
	dialer_heard(&engine->dialer, event);
	if (targets_apply_intake(&engine->targets, event) == TARGETS_END_SESSION)
		intake_end_session(engine->intake, event->session->id);
	if (engine->listener.heard)
		engine->listener.heard(engine->listener.arg, event);
	if (event->kind == INTAKE_OPENED)
		meet(engine, event->session->pid);
}

static void read_agents(void *arg)
{
	struct engine *const engine = arg;
	const uint64_t began_ns = clock_now_ns();

	if (engine->outputs_are_next)
		return;
	intake_read(engine->intake, MESSAGES_A_STEP, on_intake, engine);
	engine->heard_for_ns = clock_now_ns() - began_ns;
}

static void hold_agents(const void *arg, struct memory_stats *ret)
{
	const struct engine *const engine = arg;
	struct intake_stats stats;

	intake_stats(engine->intake, &stats);
	ret->messages += stats.buffer_bytes;
	ret->agents += stats.connection_bytes;
}

/* ---- tables and names ---- */

static int tables_fd(const void *arg)
{
	const struct engine *const engine = arg;

	return table_cache_fd(engine->tables);
}

static void take_tables(void *arg)
{
	struct engine *const engine = arg;

	table_cache_step(engine->tables);
}

static uint64_t table_bytes(const struct engine *engine, enum table_of of)
{
	struct table_stats stats;

	table_cache_table_stats(engine->tables, of, &stats);
	return stats.bytes;
}

static void hold_tables(const void *arg, struct memory_stats *ret)
{
	const struct engine *const engine = arg;
	struct table_cache_stats stats;

	table_cache_stats(engine->tables, &stats);
	ret->files += stats.bytes;
	ret->tables += table_bytes(engine, TABLE_UNWIND) + table_bytes(engine, TABLE_SYMBOLS) +
		       table_bytes(engine, TABLE_PROBES);
}

static int names_fd(const void *arg)
{
	const struct engine *const engine = arg;

	return symbolizer_fd(engine->symbolizer);
}

static void take_names(void *arg)
{
	struct engine *const engine = arg;

	symbolizer_step(engine->symbolizer);
}

static void hold_names(const void *arg, struct memory_stats *ret)
{
	const struct engine *const engine = arg;
	struct kernel_code_stats kernel;
	struct native_lines_stats lines;

	symbolizer_kernel_stats(engine->symbolizer, &kernel);
	symbolizer_lines_stats(engine->symbolizer, &lines);
	ret->names += symbolizer_bytes(engine->symbolizer);
	ret->kernel += kernel.bytes;
	ret->lines += lines.bytes;
	ret->stacks += unwinder_bytes(engine->unwinder);
}

/* ---- upkeep ---- */

/* Users may be given further user IDs at any time. */
static void renew_users(void *arg)
{
	struct engine *const engine = arg;

	engine_renew_users(engine, clock_now_ns());
}

/* The limit of a cgroup may be changed while its processes run. */
static void renew_budget(void *arg)
{
	struct engine *const engine = arg;
	const uint64_t before = engine->budget.bytes, now_ns = clock_now_ns();
	uint64_t bytes;

	if (now_ns < engine->budget_next_ns)
		return;
	engine->budget_next_ns = now_ns + BUDGET_READ_NS;
	bytes = budget_allowed(engine->budget_files);
	if (bytes == before)
		return;
	budget_init(&engine->budget, bytes);
	engine_share_budget(engine);
	log_info("the limit of memory is %" PRIu64 " MiB now, and was %" PRIu64 " MiB", bytes >> 20,
		 before >> 20);
}

/* Counts what shares the budget with processes, and leaves these the rest. */
static void count_memory(void *arg)
{
	struct engine *const engine = arg;
	struct targets *const targets = &engine->targets;
	const uint64_t now_ns = clock_now_ns();

	if (now_ns < engine->used_ns + MEMORY_INTERVAL_NS)
		return;
	engine->used_ns = now_ns;
	engine_hold(engine, &engine->used);
	targets->shared_bytes = memory_stats_shared(&engine->used);
	targets->max_bytes = budget_processes(&engine->budget, targets->shared_bytes);
}

static int model_fd(const void *arg)
{
	const struct engine *const engine = arg;

	return containers_fd(&engine->targets.containers);
}

static uint64_t model_due_ns(const void *arg)
{
	const struct engine *const engine = arg;

	return targets_next_tick_ns(&engine->targets);
}

/* The time before which nothing lies that a held sample may need. */
static uint64_t horizon_ns(uint64_t lag_ns, uint64_t heard_ns)
{
	const uint64_t held_ns = 4 * HOLD_NS + (lag_ns ? lag_ns : PATIENCE_USUAL_NS);

	return heard_ns > held_ns ? heard_ns - held_ns : 0;
}

static void tick_model(void *arg)
{
	struct engine *const engine = arg;
	const uint64_t heard_ns = intake_heard_ns(engine->intake);
	const uint64_t lag_ns = engine_recordings_lag_ns(engine, heard_ns);

	engine->targets.linger_more_ns = lag_ns;
	targets_tick(&engine->targets, clock_now_ns(), horizon_ns(lag_ns, heard_ns));
}

static void hold_model(const void *arg, struct memory_stats *ret)
{
	const struct engine *const engine = arg;

	ret->containers += containers_bytes(&engine->targets.containers);
	ret->lists += targets_list_bytes(&engine->targets);
}

static uint64_t outputs_due_ns(const void *arg)
{
	const struct engine *const engine = arg;
	const uint64_t due_ns = map_outputs_due_ns(&engine->outputs);

	return due_ns ? due_ns : PART_NEVER;
}

/* A turn in which agents had much to say writes no perf map. The next turn does, and hears none. */
static void write_outputs(void *arg)
{
	struct engine *const engine = arg;
	const uint64_t now_ns = clock_now_ns();

	engine->outputs_are_next = !engine->outputs_are_next &&
				   engine->heard_for_ns > HEARD_MUCH_NS &&
				   outputs_due_ns(engine) <= now_ns;
	if (!engine->outputs_are_next)
		map_outputs_step(&engine->outputs, now_ns);
}

static void hold_outputs(const void *arg, struct memory_stats *ret)
{
	const struct engine *const engine = arg;

	ret->lists += map_outputs_bytes(&engine->outputs);
}

/* ---- the table ---- */

static const struct part own_parts[] = {
	{.stage = TURN_AGENTS, .fd = signals_fd, .ready = read_signals},
	{.stage = TURN_AGENTS, .step = begin_turn},
	{.stage = TURN_AGENTS, .due_ns = dialer_due_ns, .step = dial, .hold = hold_dialer},
	{.stage = TURN_AGENTS,
	 .is_owed = true,
	 .fd = agents_fd,
	 .due_ns = agents_due_ns,
	 .step = read_agents,
	 .hold = hold_agents},
	{.stage = TURN_RINGS, .due_ns = engine_recordings_due_ns, .step = engine_recordings_read},
	{.stage = TURN_NAMING,
	 .is_owed = true,
	 .fd = tables_fd,
	 .step = take_tables,
	 .hold = hold_tables},
	{.stage = TURN_NAMING,
	 .is_owed = true,
	 .fd = names_fd,
	 .step = take_names,
	 .hold = hold_names},
	{.stage = TURN_NAMING,
	 .is_owed = true,
	 .step = engine_recordings_advance,
	 .hold = engine_recordings_hold},
	{.stage = TURN_UPKEEP, .step = renew_budget},
	{.stage = TURN_UPKEEP, .step = renew_users},
	{.stage = TURN_UPKEEP, .step = count_memory},
	{.stage = TURN_UPKEEP,
	 .due_ns = outputs_due_ns,
	 .step = write_outputs,
	 .hold = hold_outputs},
	{.stage = TURN_UPKEEP,
	 .fd = model_fd,
	 .due_ns = model_due_ns,
	 .step = tick_model,
	 .hold = hold_model},
	/* Last, because a request that has waited counts as asked. */
	{.stage = TURN_CALLER, .step = engine_recordings_reap},
};

void engine_add_part(struct engine *engine, const struct part *part)
{
	size_t at = engine->n_parts++;

	assert(at < ENGINE_MAX_PARTS);
	for (; at > 0 && engine->parts[at - 1].stage > part->stage; at--)
		engine->parts[at] = engine->parts[at - 1];
	engine->parts[at] = *part;
}

void engine_remove_part(struct engine *engine, const void *arg)
{
	size_t n = 0;

	for (size_t i = 0; i < engine->n_parts; i++) {
		if (engine->parts[i].arg != arg)
			engine->parts[n++] = engine->parts[i];
	}
	engine->n_parts = n;
}

void engine_hold(const struct engine *engine, struct memory_stats *ret)
{
	*ret = (struct memory_stats){0};
	for (size_t i = 0; i < engine->n_parts; i++) {
		const struct part *const part = &engine->parts[i];

		if (part->hold)
			part->hold(part->arg, ret);
	}
}

void engine_add_own_parts(struct engine *engine)
{
	for (size_t i = 0; i < sizeof(own_parts) / sizeof(own_parts[0]); i++) {
		struct part part = own_parts[i];

		part.arg = engine;
		engine_add_part(engine, &part);
	}
}
