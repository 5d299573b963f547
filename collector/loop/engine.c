// SPDX-License-Identifier: Apache-2.0
/*
 * The collector's loop, see engine.h.
 *
 * One file, because the steps of a turn share the state of the loop.
 */
#include "loop/engine.h"

#include "base/clock.h"
#include "base/log.h"
#include "guard/loop_clock.h"
#include "guard/mount_namespace.h"
#include "guard/turn.h"
#include "confine/zygote.h"
#include "container/container.h"
#include "loop/confinement.h"
#include "loop/pace.h"
#include "sample/bpf_layout.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define READ_INTERVAL_NS   (100 * CLOCK_NS_PER_MS) /* between reads while something is recorded */
#define HASTY_INTERVAL_NS  (10 * CLOCK_NS_PER_MS)  /* between reads that are urgent */
#define LEAST_INTERVAL_NS  (1 * CLOCK_NS_PER_MS)   /* between reads while a JVM may end */
#define MEMORY_INTERVAL_NS (100 * CLOCK_NS_PER_MS) /* between two counts of what shares memory */
#define MESSAGES_A_STEP	   1024
#define CLIENT_PATIENCE_NS (10 * CLOCK_NS_PER_SEC)
#define USERS_READ_NS	   (60 * CLOCK_NS_PER_SEC)
#define DUMP_END_NS	   (2 * CLOCK_NS_PER_SEC)

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

/* Gives each pool its part of the budget. */
static void share_budget(struct engine *engine)
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

/* Users may be given further user IDs at any time. */
static void renew_users(struct engine *engine, uint64_t now_ns)
{
	if (now_ns < engine->users_next_ns)
		return;
	engine->users_next_ns = now_ns + USERS_READ_NS;
	if (engine->host_fd >= 0)
		owner_read_subordinates(engine->host_fd);
}

/* The limit of a cgroup may be changed while its processes run. */
static void renew_budget(struct engine *engine, uint64_t now_ns)
{
	uint64_t before = engine->budget.bytes, bytes;

	if (now_ns < engine->budget_next_ns)
		return;
	engine->budget_next_ns = now_ns + BUDGET_READ_NS;
	bytes = budget_allowed(engine->budget_files);
	if (bytes == before)
		return;
	budget_init(&engine->budget, bytes);
	share_budget(engine);
	log_info("the limit of memory is %" PRIu64 " MiB now, and was %" PRIu64 " MiB", bytes >> 20,
		 before >> 20);
}

/* Counts what shares the budget with processes, and leaves these the rest. */
static void count_memory(struct engine *engine, uint64_t now_ns)
{
	const struct memory_sources sources = {.tables = engine->tables,
					       .intake = engine->intake,
					       .dialer = &engine->dialer,
					       .targets = &engine->targets,
					       .symbolizer = engine->symbolizer,
					       .unwinder = engine->unwinder,
					       .beside = engine->beside,
					       .recordings = engine->recordings};
	struct targets *const targets = &engine->targets;

	if (now_ns < engine->used_ns + MEMORY_INTERVAL_NS)
		return;
	engine->used_ns = now_ns;
	targets->shared_bytes = memory_stats_count(&engine->used, &sources);
	targets->max_bytes = budget_processes(&engine->budget, targets->shared_bytes);
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
				   &engine->targets.jitdump);
	return err;
}

int engine_open(struct engine *engine, const struct engine_options *options)
{
	int err;

	*engine = (struct engine){
		.control.fd = -1, .signal_fd = open_signals(), .host_fd = -1, .next_id = 1};
	loop_clock_begin();
	if (engine->signal_fd < 0) {
		log_error("cannot watch signals: %s", strerror(-engine->signal_fd));
		return engine->signal_fd;
	}
	engine->host_fd = open_host();
	renew_users(engine, clock_now_ns());
	engine->budget_files = options->budget_files;
	engine->table_bytes = options->table_bytes;
	engine->budget_next_ns =
		options->memory_bytes ? UINT64_MAX : clock_now_ns() + BUDGET_READ_NS;
	budget_init(&engine->budget, options->memory_bytes ? options->memory_bytes
							   : budget_allowed(options->budget_files));
	targets_init(&engine->targets, options->map_dir);
	if (options->map_bytes)
		engine->targets.maps.max_bytes = options->map_bytes;
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
	share_budget(engine);
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

/*
 * Meets a JVM whose agent has connected. The JVM's mappings are known. The JVM may end right after.
 */
static void meet(struct engine *engine, pid_t pid)
{
	struct process *process = targets_find(&engine->targets, pid);

	for (struct recording *r = engine->recordings; process && r; r = r->next)
		recording_meet(r, &engine->model, process);
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

static void read_signals(struct engine *engine)
{
	struct signalfd_siginfo info;

	while (read(engine->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		engine->is_interrupted |= info.ssi_signo != SIGHUP;
		engine->is_hung_up |= info.ssi_signo == SIGHUP;
	}
	if (engine->is_interrupted)
		signal_watch_take(engine->signals);
}

/* The time before which nothing lies that a held sample may need. */
static uint64_t horizon_ns(uint64_t heard_ns)
{
	const uint64_t held_ns = 4 * HOLD_NS + RECORDING_PATIENCE_NS;

	return heard_ns > held_ns ? heard_ns - held_ns : 0;
}

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
	return r->hasty_until_ns > now_ns || r->newcomer_until_ns > now_ns;
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

static uint64_t wait_ns(const struct engine *engine, uint64_t now, uint64_t max_wait_ns)
{
	uint64_t until = targets_next_tick_ns(&engine->targets);

	if (intake_due_ns(engine->intake) && until > intake_due_ns(engine->intake))
		until = intake_due_ns(engine->intake);
	if (until > dialer_next_ns(&engine->dialer))
		until = dialer_next_ns(&engine->dialer);
	if (until > now + max_wait_ns)
		until = now + max_wait_ns;
	for (const struct recording *r = engine->recordings; r; r = r->next) {
		const uint64_t done =
			r->end_ns + (count_running(engine) > 1 ? HOLD_NS : HOLD_END_NS);
		const uint64_t interval = read_interval_ns(engine, r, now);

		if (r->has_more || r->has_clock_more || (r->n_unmet && !r->is_done))
			return 0;
		if (!r->is_done && until > now + interval)
			until = now + interval;
		if (!r->is_done && done > now && until > done)
			until = done; /* the recording's user waits for the end */
	}
	return until > now ? until - now : 0;
}

static void wait_for_work(struct engine *engine, uint64_t for_ns, struct loop_woken *ret)
{
	const struct loop_fds fds = {
		.signals = engine->signal_fd,
		.control = engine->control.fd,
		.others = {intake_fd(engine->intake), table_cache_fd(engine->tables),
			   symbolizer_fd(engine->symbolizer),
			   containers_fd(&engine->targets.containers)},
	};

	loop_wait(&engine->wait, &fds, engine->recordings, engine->took_ns, for_ns, ret);
}

static void read_recordings(struct engine *engine)
{
	for (struct recording *r = engine->recordings; r; r = r->next)
		recording_read(r, &engine->model);
}

/*
 * Advances recordings up to the time until which agents have been heard. So samples wait until the
 * code that they hit is known, even if this collector did not run for long.
 */
static void advance_recordings(struct engine *engine)
{
	const uint64_t heard = intake_heard_ns(engine->intake), began_ns = clock_now_ns();

	table_cache_step(engine->tables);
	symbolizer_step(engine->symbolizer);
	engine->model.has_others = count_running(engine) > 1;
	for (struct recording *r = engine->recordings; r; r = r->next)
		recording_advance(r, &engine->model, heard);
	symbolizer_step(engine->symbolizer); /* names that these samples have */
	engine->owed_ns += clock_now_ns() - began_ns;
}

static void read_agents(struct engine *engine)
{
	const uint64_t began_ns = clock_now_ns();

	intake_read(engine->intake, MESSAGES_A_STEP, on_intake, engine);
	engine->owed_ns = clock_now_ns() - began_ns;
}

/*
 * Notes the length of the step that ends now, with the part of its caller. Reading agents and
 * naming samples do not count: they have to be done however often the loop wakes.
 */
static void note_step(struct engine *engine, uint64_t now_ns)
{
	const uint64_t took_ns = now_ns - engine->woke_ns;

	engine->took_ns = took_ns > engine->owed_ns ? took_ns - engine->owed_ns : 0;
}

/* Ends recordings whose client is gone. */
static void reap_recordings(struct engine *engine)
{
	const uint64_t now = loop_clock_now_ns(); /* a client cannot ask while the loop stands */
	struct recording *next;

	for (struct recording *r = engine->recordings; r; r = next) {
		next = r->next;
		if (r->asked_ns && !r->is_being_drawn && now > r->asked_ns + CLIENT_PATIENCE_NS)
			engine_end_recording(engine, r);
	}
}

void engine_step(struct engine *engine, uint64_t max_wait_ns)
{
	const uint64_t now = clock_now_ns();
	struct loop_woken woken;
	uint64_t for_ns;

	note_step(engine, now);
	turns_end(&engine->turns);
	loop_clock_pass(now, 0);
	for_ns = intake_has_more(engine->intake) ? 0 : wait_ns(engine, now, max_wait_ns);
	wait_for_work(engine, for_ns, &woken);
	engine->woke_ns = clock_now_ns();
	loop_clock_pass(engine->woke_ns, for_ns);
	turns_begin(&engine->turns);
	if (woken.has_signal)
		read_signals(engine);
	guard_begin_turn(engine->guard);
	containers_begin_turn(&engine->targets.containers);
	space_upkeep_begin_turn(&engine->targets.spaces);
	dialer_step(&engine->dialer, clock_now_ns());
	read_agents(engine);
	turns_pass(&engine->turns, TURN_AGENTS);
	read_recordings(engine);
	turns_pass(&engine->turns, TURN_RINGS);
	advance_recordings(engine);
	turns_pass(&engine->turns, TURN_NAMING);
	renew_budget(engine, clock_now_ns());
	renew_users(engine, clock_now_ns());
	count_memory(engine, clock_now_ns());
	targets_tick(&engine->targets, clock_now_ns(), horizon_ns(intake_heard_ns(engine->intake)));
	turns_pass(&engine->turns, TURN_UPKEEP);
	if (woken.is_asked && engine->control.ready)
		engine->control.ready(engine->control.arg);
	turns_pass(&engine->turns, TURN_CONTROL);
	reap_recordings(engine); /* last, because a request that has waited counts as asked */
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
	engine->targets.linger_more_ns = RECORDING_PATIENCE_NS;
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
