// SPDX-License-Identifier: Apache-2.0
/* The collector's loop, see engine.h: engine_parts.c has the parts over which a turn walks. */
#include "loop/engine.h"

#include "base/clock.h"
#include "base/log.h"
#include "guard/loop_clock.h"
#include "guard/mount_namespace.h"
#include "guard/turn.h"
#include "container/container.h"
#include "loop/confinement.h"
#include "sample/bpf_layout.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define USERS_READ_NS (60 * CLOCK_NS_PER_SEC)
#define DUMP_END_NS   (2 * CLOCK_NS_PER_SEC)

static_assert(TARGETS_MAX_PROCESSES <= BPF_MAX_WANTED, "each process may be one that is recorded");

/*
 * Opens the signal descriptor. Returns the descriptor or a negative errno: pthread_sigmask(3)
 * returns the error and does not set errno.
 */
static int open_signals(void)
{
	sigset_t set;
	int fd, err;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	err = pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (err)
		return -err;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static void on_forget(void *arg, pid_t pid)
{
	struct engine *engine = arg;

	table_cache_forget(engine->tables, pid);
}

static void on_end_session(void *arg, uint32_t id)
{
	struct engine *engine = arg;

	intake_end_session(engine->intake, id);
}

static void on_jvm(void *arg, pid_t pid)
{
	struct engine *engine = arg;

	dialer_expect(&engine->dialer, pid, clock_now_ns());
}

/* Whose process it is: a container's, or a user's of the host. */
static struct owner owner_of(void *arg, pid_t pid)
{
	const struct engine *const engine = arg;
	const struct process *const process = targets_find(&engine->targets, pid);
	struct container container = {0};

	if (process)
		return process->owner;
	container_read(pid, &container); /* "" if that cannot be read */
	return owner_of_process(pid, container.id, container_owner_len(container.id));
}

/* What is asked for, but no more than half of the budget. */
static size_t max_table_bytes(const struct engine *engine)
{
	const struct budget *const budget = &engine->budget;

	if (engine->table_bytes == 0)
		return budget->tables;
	return engine->table_bytes < budget->bytes / 2 ? engine->table_bytes : budget->bytes / 2;
}

void engine_share_budget(struct engine *engine)
{
	const struct budget *const budget = &engine->budget;
	struct targets *const targets = &engine->targets;

	targets->max_bytes = budget_processes(budget, targets->shared_bytes);
	targets->foreign.max_bytes = budget->foreign;
	targets->containers.max_bytes = budget->containers;
	targets_limit_methods(targets, budget->methods);
	table_cache_set_limits(engine->tables, max_table_bytes(engine), budget->files);
	symbolizer_set_limits(engine->symbolizer, budget->names, budget->lines);
	intake_set_limits(engine->intake, INTAKE_MAX_SESSIONS, budget->messages);
	for (struct recording *r = engine->recordings; r; r = r->next)
		recording_take_budget(r, &engine->model);
}

/*
 * The root directory of the first process is the host's, where the collector's own is a
 * container's.
 */
static int open_host(void)
{
	return open(mount_namespace_is_other(1, NULL) > 0 ? "/proc/1/root" : "/",
		    O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void engine_renew_users(struct engine *engine, uint64_t now_ns)
{
	if (now_ns < engine->users_next_ns)
		return;
	engine->users_next_ns = now_ns + USERS_READ_NS;
	if (engine->host_fd >= 0)
		owner_read_subordinates(engine->host_fd);
}

/* Lines of --dump are written by a thread: the loop does not wait for who reads them. */
static int open_dump(struct engine *engine, const struct dump *dump)
{
	int err;

	if (!dump || !dump->kinds)
		return 0;
	err = dump_queue_new(fileno(dump->stream), DUMP_QUEUE_BYTES, &engine->dump.queue);
	if (err)
		log_error("cannot dump: %s", strerror(-err));
	else
		engine->dump.kinds = dump->kinds;
	return err;
}

static int open_stages(struct engine *engine, const struct engine_options *options)
{
	int err = confinement_begin(options->capabilities);

	if (!err)
		err = signal_watch_start(engine->signal_fd, &engine->signals);
	if (!err)
		err = table_cache_new(max_table_bytes(engine), true, &engine->tables);
	if (!err)
		table_cache_set_owner(engine->tables, owner_of, engine);
	if (!err)
		err = guard_new(owner_of, engine, &engine->guard);
	if (!err)
		guarded_use(guard_runner(engine->guard));
	if (!err)
		err = guarded_memory_new(&engine->memory);
	if (!err)
		err = worker_new(&engine->worker);
	if (!err)
		process_memory_use(guarded_memory_source(engine->memory));
	if (!err)
		err = symbolizer_new(engine->tables, &engine->symbolizer);
	if (err)
		log_error("cannot start naming: %s", strerror(-err));
	if (!err)
		err = unwinder_new(engine->tables, &engine->unwinder);
	if (!err)
		err = intake_open(options->socket_path, &engine->intake);
	if (!err)
		intake_set_owner(engine->intake, owner_of, engine);
	if (!err)
		err = open_dump(engine, options->dump);
	if (!err && options->jitdump_dir) /* last, because it makes a file that stays */
		err = jitdump_open(options->jitdump_dir, JITDUMP_MAX_BYTES,
				   &engine->outputs.jitdump);
	return err;
}

int engine_open(struct engine *engine, const struct engine_options *options)
{
	int err;

	*engine = (struct engine){.signal_fd = open_signals(), .host_fd = -1, .next_id = 1};
	loop_clock_begin();
	if (engine->signal_fd < 0) {
		log_error("cannot watch signals: %s", strerror(-engine->signal_fd));
		return engine->signal_fd;
	}
	engine->host_fd = open_host();
	engine_renew_users(engine, clock_now_ns());
	engine->budget_files = options->budget_files;
	engine->table_bytes = options->table_bytes;
	engine->budget_next_ns =
		options->memory_bytes ? UINT64_MAX : clock_now_ns() + BUDGET_READ_NS;
	budget_init(&engine->budget, options->memory_bytes ? options->memory_bytes
							   : budget_allowed(options->budget_files));
	targets_init(&engine->targets);
	map_outputs_init(&engine->outputs, &engine->targets, options->map_dir);
	if (options->map_bytes)
		engine->outputs.store.max_bytes = options->map_bytes;
	err = open_stages(engine, options);
	if (err) {
		engine_close(engine);
		return err;
	}
	turn_ask_short(); /* not for the loader's threads, which run by now */
	engine->targets.on_forget = on_forget;
	engine->targets.on_forget_arg = engine;
	engine->targets.end_session = on_end_session;
	engine->targets.end_session_arg = engine;
	dialer_init(&engine->dialer, engine->intake, "/proc");
	engine->model = (struct recording_model){.targets = &engine->targets,
						 .tables = engine->tables,
						 .unwinder = engine->unwinder,
						 .symbolizer = engine->symbolizer,
						 .on_jvm = on_jvm,
						 .on_jvm_arg = engine,
						 .budget = &engine->budget,
						 .worker = engine->worker,
						 .dump = &engine->dump};
	engine_share_budget(engine);
	engine_add_own_parts(engine);
	return 0;
}

/* Nobody is told of lines that are lost now: whoever would read it does not read. */
static void close_dump(struct engine *engine)
{
	struct dump_queue *const queue = engine->dump.queue;

	engine->dump = (struct dump){0};
	(void)dump_queue_close(queue, DUMP_END_NS);
}

void engine_close(struct engine *engine)
{
	loop_clock_begin(); /* whoever waits from now on waits without a loop */
	while (engine->recordings)
		engine_end_recording(engine, engine->recordings);
	dialer_fini(&engine->dialer);
	intake_close(engine->intake);
	map_outputs_fini(&engine->outputs);
	targets_fini(&engine->targets);
	unwinder_free(engine->unwinder);
	symbolizer_free(engine->symbolizer);
	confinement_end(); /* threads that wait for parsers end */
	table_cache_free(engine->tables);
	process_memory_use(NULL);
	worker_free(engine->worker); /* waits until perf events have ended */
	guarded_memory_free(engine->memory);
	guard_settle(engine->guard);
	guarded_use(NULL);
	guard_free(engine->guard);
	close_dump(engine);
	signal_watch_stop(engine->signals);
	if (engine->host_fd >= 0)
		close(engine->host_fd);
	if (engine->signal_fd >= 0)
		close(engine->signal_fd);
}

static uint64_t wait_ns(const struct engine *engine, uint64_t now_ns, uint64_t max_wait_ns)
{
	uint64_t until_ns = now_ns + max_wait_ns;

	for (size_t i = 0; i < engine->n_parts; i++) {
		const struct part *const part = &engine->parts[i];
		const uint64_t due_ns = part->due_ns ? part->due_ns(part->arg) : PART_NEVER;

		if (until_ns > due_ns)
			until_ns = due_ns;
	}
	return until_ns > now_ns ? until_ns - now_ns : 0;
}

static void wait_for_work(struct engine *engine, uint64_t for_ns, struct loop_fds *ret)
{
	ret->n = engine->n_parts;
	for (size_t i = 0; i < engine->n_parts; i++) {
		const struct part *const part = &engine->parts[i];

		ret->fds[i] = part->fd ? part->fd(part->arg) : -1;
	}
	loop_wait(&engine->wait, ret, engine->recordings, engine->took_ns, for_ns);
}

static void step_part(struct engine *engine, const struct part *part, bool is_ready)
{
	const uint64_t began_ns = part->is_owed ? clock_now_ns() : 0;

	if (is_ready && part->ready)
		part->ready(part->arg);
	if (part->step)
		part->step(part->arg);
	if (part->is_owed)
		engine->owed_ns += clock_now_ns() - began_ns;
}

/*
 * Notes the length of the step that ends now, with the part of its caller. Reading agents and
 * naming samples do not count: they have to be done however often the loop wakes.
 */
static void note_step(struct engine *engine, uint64_t now_ns)
{
	const uint64_t took_ns = now_ns - engine->woke_ns;

	engine->took_ns = took_ns > engine->owed_ns ? took_ns - engine->owed_ns : 0;
	engine->owed_ns = 0;
}

void engine_step(struct engine *engine, uint64_t max_wait_ns)
{
	const uint64_t now_ns = clock_now_ns();
	struct loop_fds fds;
	uint64_t for_ns;

	note_step(engine, now_ns);
	turns_end(&engine->turns);
	loop_clock_pass(now_ns, 0);
	for_ns = wait_ns(engine, now_ns, max_wait_ns);
	wait_for_work(engine, for_ns, &fds);
	engine->woke_ns = clock_now_ns();
	loop_clock_pass(engine->woke_ns, for_ns);
	turns_begin(&engine->turns);
	for (size_t i = 0; i < engine->n_parts; i++) {
		const struct part *const part = &engine->parts[i];

		step_part(engine, part, fds.ready[i]);
		if (i + 1 < engine->n_parts && part[1].stage != part->stage)
			turns_pass(&engine->turns, part->stage);
	}
}

void engine_kept_stats(const struct engine *engine, struct kept_stats *ret)
{
	size_t name_bytes;

	kept_stats_count(&engine->targets, engine->recordings, ret);
	ret->held_dropped += engine->held_dropped;
	ret->refused_clients = engine->refused_clients;
	ret->recordings = engine->n_recordings;
	ret->max_recordings = ENGINE_MAX_RECORDINGS;
	symbolizer_names_stats(engine->symbolizer, &name_bytes, &ret->names_forgotten);
	ret->name_bytes = name_bytes;
}

void engine_memory_stats(const struct engine *engine, struct memory_stats *ret)
{
	*ret = engine->used;
	memory_stats_sum(ret, &engine->targets, engine->budget.bytes);
}

void engine_count_jvms(const struct engine *engine, uint32_t *ret_connected, uint32_t *ret_current)
{
	const struct process *process;
	size_t pos = 0;

	*ret_connected = *ret_current = 0;
	while ((process = targets_next(&engine->targets, &pos))) {
		if (!process->jvm)
			continue;
		*ret_connected += process->jvm->state <= JVM_CURRENT;
		*ret_current += process->jvm->state == JVM_CURRENT;
	}
}
