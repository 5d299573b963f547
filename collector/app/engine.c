// SPDX-License-Identifier: Apache-2.0
/* The loop, see engine.h. */
#include "app/engine.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define READ_INTERVAL_NS    (100 * CLOCK_NS_PER_MS) /* of the rings, while something is recorded */
#define MESSAGES_A_STEP	    1024
#define UNWIND_TABLES_BYTES (256u << 20)
#define MAX_POLL_FDS	    1024
#define CLIENT_PATIENCE_NS  (10 * CLOCK_NS_PER_SEC)

/* Places in the set that is polled. */
enum { SIGNALS, INTAKE, WATCH, FIRST_RING };

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0)
		return -EINVAL;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void on_forget(void *arg, pid_t pid)
{
	struct engine *engine = arg;

	unwinder_forget(engine->unwinder, pid);
	symbolizer_forget(engine->symbolizer, pid);
}

static void on_end_session(void *arg, uint32_t id)
{
	struct engine *engine = arg;

	intake_end_session(engine->intake, id);
}

int engine_open(struct engine *engine, const char *socket_path, const char *map_dir,
		const char *jitdump_dir)
{
	int err;

	*engine = (struct engine){.watch.fd = -1, .signal_fd = open_signals(), .next_id = 1};
	targets_init(&engine->targets, map_dir);
	if (engine->signal_fd < 0) {
		log_error("cannot watch signals: %s", strerror(errno));
		return -errno;
	}
	err = symbolizer_new(&engine->symbolizer);
	if (err)
		log_error("cannot start naming: %s", strerror(-err));
	if (!err)
		err = unwinder_new(UNWIND_TABLES_BYTES, &engine->unwinder);
	if (!err)
		err = intake_open(socket_path, &engine->intake);
	if (!err && jitdump_dir) /* last: it makes a file that stays */
		err = jitdump_open(jitdump_dir, JITDUMP_MAX_BYTES, &engine->targets.jitdump);
	if (err) {
		engine_close(engine);
		return err;
	}
	engine->targets.on_forget = on_forget;
	engine->targets.on_forget_arg = engine;
	engine->targets.end_session = on_end_session;
	engine->targets.end_session_arg = engine;
	engine->model = (struct recording_model){.targets = &engine->targets,
						 .unwinder = engine->unwinder,
						 .symbolizer = engine->symbolizer};
	return 0;
}

void engine_close(struct engine *engine)
{
	while (engine->recordings)
		engine_end_recording(engine, engine->recordings);
	intake_close(engine->intake);
	targets_fini(&engine->targets);
	unwinder_free(engine->unwinder);
	symbolizer_free(engine->symbolizer);
	if (engine->signal_fd >= 0)
		close(engine->signal_fd);
}

static void on_intake(void *arg, const struct intake_event *event)
{
	struct engine *engine = arg;

	if (targets_apply_intake(&engine->targets, event) == TARGETS_END_SESSION)
		intake_end_session(engine->intake, event->session->id);
}

static void read_signals(struct engine *engine)
{
	struct signalfd_siginfo info;

	while (read(engine->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		engine->is_interrupted |= info.ssi_signo != SIGHUP;
}

/* Nothing that a held sample may need lies before this. */
static uint64_t horizon_ns(uint64_t heard_ns)
{
	return heard_ns > 4 * HOLD_NS ? heard_ns - 4 * HOLD_NS : 0;
}

static uint64_t wait_ns(const struct engine *engine, uint64_t max_wait_ns)
{
	const uint64_t now = clock_now_ns();
	uint64_t until = targets_next_tick_ns(&engine->targets);

	if (until > now + max_wait_ns)
		until = now + max_wait_ns;
	for (const struct recording *r = engine->recordings; r; r = r->next) {
		const uint64_t done = r->end_ns + HOLD_NS;

		if (!r->is_done && until > now + READ_INTERVAL_NS)
			until = now + READ_INTERVAL_NS;
		if (!r->is_done && done > now && until > done)
			until = done; /* its user waits for it */
	}
	return until > now ? until - now : 0;
}

static size_t fill_poll(const struct engine *engine, struct pollfd *fds)
{
	size_t n = FIRST_RING;

	fds[SIGNALS] = (struct pollfd){.fd = engine->signal_fd, .events = POLLIN};
	fds[INTAKE] = (struct pollfd){.fd = intake_fd(engine->intake), .events = POLLIN};
	fds[WATCH] = (struct pollfd){.fd = engine->watch.fd, .events = POLLIN};
	for (const struct recording *r = engine->recordings; r; r = r->next) {
		const int *ring_fds;
		const size_t n_rings =
			r->is_done || r->is_hung_up ? 0 : sampler_fds(r->sampler, &ring_fds);

		/* Beyond the limit rings are read by the clock, as all of them are anyway. */
		for (size_t i = 0; i < n_rings && n < MAX_POLL_FDS; i++)
			fds[n++] = (struct pollfd){.fd = ring_fds[i], .events = POLLIN};
	}
	return n;
}

/* An event of one process hangs up for good when that ends; poll would not wait any more. */
static void notice_hang_ups(struct engine *engine, const struct pollfd *fds, size_t n)
{
	bool is_hung_up = false;

	for (size_t i = FIRST_RING; i < n; i++)
		is_hung_up |= (fds[i].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
	for (struct recording *r = engine->recordings; is_hung_up && r; r = r->next)
		r->is_hung_up = true; /* rings are read by the clock too, that is enough */
}

/* However long this collector did not run: samples wait until the code that they hit is known. */
static void advance_recordings(struct engine *engine)
{
	const uint64_t heard = intake_heard_ns(engine->intake);

	for (struct recording *r = engine->recordings; r; r = r->next) {
		recording_read(r, &engine->model);
		recording_advance(r, &engine->model, heard);
	}
}

/* Recordings whose client is gone. */
static void reap_recordings(struct engine *engine)
{
	const uint64_t now = clock_now_ns();
	struct recording *next;

	for (struct recording *r = engine->recordings; r; r = next) {
		next = r->next;
		if (r->asked_ns && now > r->asked_ns + CLIENT_PATIENCE_NS)
			engine_end_recording(engine, r);
	}
}

void engine_step(struct engine *engine, uint64_t max_wait_ns)
{
	struct pollfd fds[MAX_POLL_FDS];
	const size_t n = fill_poll(engine, fds);
	const uint64_t wait = intake_has_more(engine->intake) ? 0 : wait_ns(engine, max_wait_ns);
	const struct timespec timeout = {.tv_sec = (time_t)(wait / CLOCK_NS_PER_SEC),
					 .tv_nsec = (long)(wait % CLOCK_NS_PER_SEC)};
	const int ready = ppoll(fds, n, &timeout, NULL);

	if (ready > 0) {
		if (fds[SIGNALS].revents)
			read_signals(engine);
		notice_hang_ups(engine, fds, n);
	}
	intake_read(engine->intake, MESSAGES_A_STEP, on_intake, engine);
	advance_recordings(engine);
	targets_tick(&engine->targets, clock_now_ns(), horizon_ns(intake_heard_ns(engine->intake)));
	if (ready > 0 && fds[WATCH].revents && engine->watch.ready)
		engine->watch.ready(engine->watch.arg);
	reap_recordings(engine); /* last: a request that waited counts as asked */
}

int engine_start_recording(struct engine *engine, const struct recording_options *options,
			   struct recording **ret)
{
	struct recording *recording;
	int err;

	if (engine->n_recordings >= ENGINE_MAX_RECORDINGS)
		return -EBUSY;
	err = recording_start(options, &engine->model, &recording);
	if (err)
		return err;
	recording->id = engine->next_id++;
	recording->next = engine->recordings;
	engine->recordings = recording;
	engine->n_recordings++;
	*ret = recording;
	return 0;
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
	engine->n_recordings--;
	if (recording->options.all)
		targets_unwant_all(&engine->targets);
	recording_free(recording);
}

void engine_stats(const struct engine *engine, struct engine_stats *ret)
{
	intake_stats(engine->intake, &ret->intake);
	unwinder_stats(engine->unwinder, &ret->stacks);
	unwinder_cfi_stats(engine->unwinder, &ret->unwind_tables);
	symbolizer_stats(engine->symbolizer, &ret->symbol_tables);
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
